// Turns the pairs of a DPO data set into the token sequences of their two answers, each after the prompt; as bytes, in the form of SFT
// rows. A pair has exactly two sequences, the chosen one first, or none; dpo-job.ts relies on that.
import type { PreferencePair } from '#domain/dpo';
import type { ChatMessage } from '#domain/chat';
import { trainedCount } from './packing.ts';
import { encodeRows, type EncodedSftData, type RowSequences } from './sft-rows.ts';
import { tokenizeHistory, type ConversationEncoder, type SequenceLimits, type TokenSequence } from './tokenize.ts';

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

/**
 * The assistant turns after the prompt are trained. If the template rewrites earlier turns, an answer of several turns would become several
 * sequences after different prompts: such a pair is skipped.
 */
export async function tokenizePair(
  { prompt, chosen, rejected, tools }: PreferencePair,
  encoder: ConversationEncoder,
  limits?: SequenceLimits,
): Promise<RowSequences> {
  const tokenize = (answer: readonly ChatMessage[]) => {
    const turns = [...prompt, ...answer].map((message) => ({ kind: 'message' as const, message }));
    return tokenizeHistory({ turns, tools }, encoder, prompt.length, limits);
  };
  const [first, second] = [await tokenize(chosen), await tokenize(rejected)];
  const sequences = [first, second].map((each) => each.sequences.filter((sequence) => trainedCount(sequence) > 0));
  const [a, b] = sequences.map(([only]) => only);
  const problem = (): string | null => {
    if (first.cut.sequences + second.cut.sequences > 0) return 'too_long';
    if (!a || !b) return 'no_trainable_tokens';
    if (sequences.some(({ length }) => length > 1)) return 'rewritten_history';
    return sameTokens(a, b) ? 'equal_answers' : null;
  };
  return { sequences: sequences.flat(), problem: problem() };
}

/** Their margin is 0 under every policy. */
const sameTokens = (a: TokenSequence, b: TokenSequence): boolean =>
  a.tokens.length === b.tokens.length && a.tokens.every((token, i) => token === b.tokens[i]);
