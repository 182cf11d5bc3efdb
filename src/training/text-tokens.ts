// Tokens of rows that are plain text, as TRL makes them: with the tokens that the tokenizer adds to every text (a BOS), without the chat
// template. A text ends with the model's end token.
import type { ConversationEncoder } from './conversation-encoder.ts';
import { exampleSequence } from './conversation-tokens.ts';
import type { TokenSequence } from './token-sequence.ts';

/**
 * One sequence for each completion of the prompt. Trained is what follows the tokens that the prompt alone and all sequences begin
 * with; without a prompt, everything but the first token.
 */
export function tokenizeText(
  prompt: string,
  completions: readonly string[],
  { encodePlain, stops: [end] }: Pick<ConversationEncoder, 'encodePlain' | 'stops'>,
): TokenSequence[] {
  const whole = completions.map((completion) =>
    encodePlain(prompt + (end === undefined || completion.endsWith(end) ? completion : completion + end)),
  );
  const before = prompt === '' ? [] : encodePlain(prompt);
  const shared = Math.min(...whole.map((ids) => alike(before, ids)));
  return whole.map((ids) => exampleSequence(ids, new Uint8Array(ids.length).fill(1, shared)));
}

function alike(a: readonly number[], b: readonly number[]): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
