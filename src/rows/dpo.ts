// Rows of DPO jobs: lines → domain. A row is a preference pair: in TRL's conversational format, with a prompt of its own or as the
// shared prefix of both answers, or in OpenAI's format.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { nonEmpty } from '#base/non-empty';
import type { ChatMessage } from '#domain/chat';
import type { PreferencePair, ReadPreferencePair } from '#domain/dpo';
import { parseJson } from '#validation/json-text';
import { parse } from '#validation/parse';
import { message, tool } from './message.ts';
import { problemOf } from './problem.ts';

const messages = z.array(message).min(1);
const tools = z.array(tool).nullish();

const ROWS = {
  explicit: z.looseObject({ prompt: messages, chosen: messages, rejected: messages, tools }),
  implicit: z
    .looseObject({ prompt: z.string().nullish(), chosen: messages, rejected: messages, tools })
    .transform(({ chosen, rejected, ...rest }) => ({ ...rest, ...sharedBeginning(chosen, rejected) })),
  openai: z
    .looseObject({
      input: z.looseObject({ messages, tools }),
      preferred_output: messages,
      non_preferred_output: messages,
    })
    .transform(({ input, preferred_output: chosen, non_preferred_output: rejected }) => ({
      prompt: input.messages,
      chosen,
      rejected,
      tools: input.tools,
    })),
};

export function readPreferencePair(text: string): ReadPreferencePair {
  try {
    const value = parseJson(text);
    return isImplicit(value) ? readImplicit(value) : checked(parse(explicitRow(value), value, 'body'));
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

/** The format that the row is meant to have, so that only its errors are reported. */
const explicitRow = (value: unknown) =>
  isObject(value) && ('input' in value || 'preferred_output' in value) ? ROWS.openai : ROWS.explicit;

/** No prompt, or its text in addition to whole conversations, as many data sets have it. */
const isImplicit = (value: unknown): boolean =>
  isObject(value) && 'chosen' in value && (typeof value['prompt'] === 'string' || !value['prompt']);

function readImplicit(value: unknown): ReadPreferencePair {
  const { prompt: text, shared, ...row } = parse(ROWS.implicit, value, 'body');
  const isSaid = shared.some(({ content }) => content === text);
  if (typeof text === 'string' && text !== '' && !isSaid) {
    return {
      problem: `prompt is a text that is not in the messages: send it as messages, [{"role": "user", "content": "…"}]`,
    };
  }
  if (shared.length === 0) {
    return {
      problem: 'chosen and rejected do not begin with the same message, and there is no prompt: send its messages',
    };
  }
  return checked({ ...row, prompt: shared });
}

/** The shared prefix of both conversations; it leaves at least one message to each answer. */
function sharedBeginning(chosen: readonly ChatMessage[], rejected: readonly ChatMessage[]) {
  const most = Math.min(chosen.length, rejected.length) - 1;
  let at = 0;
  while (at < most && isDeepStrictEqual(chosen[at], rejected[at])) at++;
  return { shared: chosen.slice(0, at), chosen: chosen.slice(at), rejected: rejected.slice(at) };
}

interface WirePair extends Pick<PreferencePair, 'prompt' | 'chosen' | 'rejected'> {
  readonly tools?: PreferencePair['tools'] | undefined;
}

function checked({ prompt, chosen, rejected, tools: given }: WirePair): ReadPreferencePair {
  for (const [name, answer] of Object.entries({ chosen, rejected })) {
    const [first, last] = [answer[0]!.role, answer.at(-1)!.role];
    if (first !== 'assistant')
      return {
        problem: `${name} begins with a message of the role ${first}, but an answer must begin with an assistant message: move the messages before it to prompt`,
      };
    if (last !== 'assistant')
      return {
        problem: `${name} ends with a message of the role ${last}, but the last message must be the assistant's`,
      };
  }
  if (isDeepStrictEqual(chosen, rejected)) return { problem: 'chosen and rejected are the same: nothing is preferred' };
  return { row: { prompt, chosen, rejected, tools: nonEmpty(given) } };
}
