// Rows of SFT jobs: lines → domain.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { nonEmpty } from '#base/non-empty';
import type { ReadSftRow, SftRow } from '#domain/sft';
import { parseJson } from '#validation/json-text';
import { parse } from '#validation/parse';
import { message, tool } from './message.ts';
import { problemOf } from './problem.ts';
import { turn } from './trajectory.ts';

const tools = z.array(tool).nullish();

/** `{"messages": […], "tools": […]?}`, or a trajectory whose Choices count as messages. */
const row = z.union([
  z.looseObject({ messages: z.array(message).min(1), tools }),
  z
    .looseObject({ messages_and_choices: z.array(turn).min(1), tools })
    .transform(({ messages_and_choices, ...rest }) => ({
      ...rest,
      messages: messages_and_choices.map((t) => t.message),
    })),
]);

export function readSftLine(text: string): ReadSftRow {
  try {
    const value = parseJson(text);
    if (isPreference(value))
      return { problem: 'is a preference pair, not a conversation: send it to a DPO job (dpo-training-jobs)' };
    return checked(parse(rowSchemaOf(value), value, 'body'));
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

const isPreference = (value: unknown): boolean =>
  isObject(value) && !('messages' in value) && ('chosen' in value || 'preferred_output' in value);

/** Whether a line is a pair rather than a conversation, valid or not. */
export function isPreferenceLine(text: string): boolean {
  try {
    return isPreference(parseJson(text));
  } catch {
    return false;
  }
}

/** The format that the row is meant to have, so that only its errors are reported. */
const rowSchemaOf = (value: unknown) =>
  isObject(value) && 'messages_and_choices' in value ? row.options[1] : row.options[0];

function checked({ messages, tools: given }: z.output<typeof row>): ReadSftRow {
  if (messages.at(-1)!.role !== 'assistant') {
    return {
      problem: `the last message must have the role assistant, because it is what is learnt, not ${messages.at(-1)!.role}`,
    };
  }
  const result: SftRow = { messages, tools: nonEmpty(given) };
  return { row: result };
}
