// How many tokens an answer may have: the context minus the prompt. A limit that the client set is never reduced in silence: it is
// refused, or, where the client's API is defined that way, the answer ends with its own finish reason.
import { AppError } from '#domain/errors';
import type { SamplingOptions } from './chat-request.ts';

/** The client's name for the prompt, used in messages and as `param`. */
export type PromptName = 'messages' | 'prompt' | 'token_ids' | 'input';

const HAVE: Readonly<Record<PromptName, string>> = {
  messages: 'your messages have',
  prompt: 'your prompt has',
  token_ids: 'your token_ids have',
  input: 'your input has',
};

/** Throws `context_length_exceeded`. */
export function roomFor(
  { maxTokens, maxTokensField, cutToContext }: Pick<SamplingOptions, 'maxTokens' | 'maxTokensField' | 'cutToContext'>,
  promptLength: number,
  contextLength: number,
  name: PromptName,
): number {
  const room = contextLength - promptLength;
  if (room <= 0)
    throw contextTooShort(
      contextLength,
      `${HAVE[name]} ${promptLength} tokens, which leaves no room for an answer`,
      name,
    );
  if (maxTokens === null || maxTokens <= room || cutToContext) return room;
  throw contextTooShort(
    contextLength,
    `you asked for ${maxTokens} tokens after a prompt of ${promptLength}`,
    name,
    maxTokensField,
  );
}

/** Refuses a text that cannot fit, before it is tokenized. */
export function refuseLongText(
  characters: number,
  charactersMax: number,
  contextLength: number,
  name: PromptName,
): void {
  if (characters <= charactersMax) return;
  throw contextTooShort(
    contextLength,
    `${HAVE[name]} ${characters} characters, more than ${contextLength} tokens can hold`,
    name,
  );
}

/** Clients look for the code in the text too: openai-python's str(error) shows nothing else. */
function contextTooShort(contextLength: number, what: string, name: PromptName, param: string = name): AppError {
  const message = `This model's maximum context length is ${contextLength} tokens, but ${what}. Shorten the ${name} or the answer. (context_length_exceeded)`;
  return new AppError('context_length_exceeded', message, { param });
}
