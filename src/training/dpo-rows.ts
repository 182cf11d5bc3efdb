// Turns the pairs of a DPO data set into the token sequences of their two answers, each after the prompt; as bytes, in the form of SFT
// rows. A pair has exactly two sequences, the chosen one first, or none; dpo-job.ts relies on that.
import type { ConversationPair, PreferencePair, TextPair } from '#domain/dpo';
import type { ChatMessage } from '#domain/chat';
import type { ConversationEncoder } from './conversation-encoder.ts';
import { tokenizeConversation } from './conversation-tokens.ts';
import { encodeRows, type EncodedSftData, type RowSequences } from './sft-rows.ts';
import { tokenizeText } from './text-tokens.ts';
import { UNLIMITED, type SequenceLimits, type TokenSequence } from './token-sequence.ts';

export interface PairLimits {
  /** Pairs with a longer sequence are dropped. */
  readonly lengthMax: number;
}

/** Throws as encodeSftRows. */
export const encodePairs = (
  pairs: AsyncIterable<PreferencePair> | Iterable<PreferencePair>,
  { lengthMax }: PairLimits,
  encoder: ConversationEncoder,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<EncodedSftData> =>
  encodeRows(pairs, lengthMax, (pair, limits) => tokenizePair(pair, encoder, limits), write);

export const tokenizePair = (
  pair: PreferencePair,
  encoder: ConversationEncoder,
  limits: SequenceLimits = UNLIMITED,
): Promise<RowSequences> =>
  typeof pair.prompt === 'string'
    ? Promise.resolve(tokenizeTextPair(pair as TextPair, encoder, limits))
    : tokenizeConversations(pair as ConversationPair, encoder, limits);

/**
 * The assistant turns after the prompt are trained. If the template rewrites earlier turns, an answer of several turns would become several
 * sequences after different prompts: such a pair is skipped.
 */
async function tokenizeConversations(
  { prompt, chosen, rejected, tools, variables }: ConversationPair,
  encoder: ConversationEncoder,
  limits: SequenceLimits,
): Promise<RowSequences> {
  const tokenize = (answer: readonly ChatMessage[]) => {
    const messages = [...prompt, ...answer];
    const places = messages.flatMap(({ role }, at) => (at >= prompt.length && role === 'assistant' ? [at] : []));
    return tokenizeConversation(messages, places, { tools, variables }, encoder, limits, 'after the prompt');
  };
  const both = [await tokenize(chosen), await tokenize(rejected)];
  const endlessTurns = both.reduce((sum, each) => sum + each.endlessTurns, 0);
  const sequences = both.map((each) => each.sequences);
  const problem = both.some(({ isTooLong }) => isTooLong)
    ? 'too_long'
    : sequences.some(({ length }) => length > 1)
      ? 'rewritten_history'
      : problemOf(sequences.map(([only]) => only));
  if (problem === null) startTogether(sequences.map(([only]) => only!.trained));
  return { sequences: sequences.flat(), problem, endlessTurns };
}

/** Where a token joins the end of the prompt to one of the answers, both are compared from there, as in TRL. */
function startTogether(trained: readonly Uint8Array[]): void {
  const starts = trained.map((each) => each.indexOf(1));
  for (const [i, each] of trained.entries()) each.fill(1, Math.min(...starts), starts[i]);
}

function tokenizeTextPair(
  { prompt, chosen, rejected }: TextPair,
  encoder: ConversationEncoder,
  limits: SequenceLimits,
): RowSequences {
  const sequences = tokenizeText(prompt, [chosen, rejected], encoder);
  const trained = sequences.map((sequence) => (sequence.trained.includes(1) ? sequence : undefined));
  const isTooLong = sequences.some(({ tokens }) => tokens.length > limits.lengthMax);
  const problem = isTooLong ? 'too_long' : problemOf(trained);
  if (problem === null) for (const { tokens } of sequences) limits.count(tokens.length);
  return { sequences, problem, endlessTurns: encoder.stops.length === 0 ? 2 : 0 };
}

/** Of the two sequences of a pair, which are undefined if they have nothing to train. */
function problemOf([a, b]: readonly (TokenSequence | undefined)[]): string | null {
  if (!a || !b) return 'no_trainable_tokens';
  return sameTokens(a, b) ? 'equal_answers' : null;
}

/** Their margin is 0 under every policy. */
const sameTokens = (a: TokenSequence, b: TokenSequence): boolean =>
  a.tokens.length === b.tokens.length && a.tokens.every((token, i) => token === b.tokens[i]);
