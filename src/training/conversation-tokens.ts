// Turns an example (a conversation of an SFT row or of a preference pair) into token sequences: the whole conversation is encoded at
// once, as Transformers' apply_chat_template does, and the tokens of each trained turn are found by their place in the text. A turn
// that the template writes differently once others follow it (old reasoning is dropped), or whose end it does not write, becomes a
// sequence of its own, which ends with it: the model meets each turn as the last one.
import { createYielder } from '#base/yield-to-loop';
import type { ChatMessage } from '#domain/chat';
import type { ConversationEncoder, TemplateContext } from './conversation-encoder.ts';
import type { SequenceLimits, TokenSequence } from './token-sequence.ts';
import { appendedStop, findWrittenTurn, type BlockUse, type WrittenTurn } from './written-turn.ts';

export interface TokenizedExample {
  readonly sequences: readonly TokenSequence[];
  /** A sequence is longer than the limit: it is not among them. */
  readonly isTooLong: boolean;
  /** Turns after which no token is known that ends generation. */
  readonly endlessTurns: number;
}

/**
 * `trained`: places of the assistant messages to train, in ascending order. `use`: of `{% generation %}` blocks. Throws `invalid_request` if the template refuses
 * the conversation.
 */
export async function tokenizeConversation(
  messages: readonly ChatMessage[],
  trained: readonly number[],
  context: TemplateContext,
  encoder: ConversationEncoder,
  limits: SequenceLimits,
  use: BlockUse,
): Promise<TokenizedExample> {
  const yieldToLoop = createYielder();
  const turns: WrittenTurn[] = [];
  for (const place of trained) {
    const turn = findWrittenTurn(messages, place, context, encoder, use);
    if (turn) turns.push(turn);
    await yieldToLoop();
  }
  let isTooLong = false;
  const sequences: TokenSequence[] = [];
  for (const group of groupTurns(turns)) {
    const sequence = encodeTurns(group, encoder);
    await yieldToLoop();
    if (!sequence.trained.includes(1)) continue;
    if (sequence.tokens.length > limits.lengthMax) isTooLong = true;
    else {
      limits.count(sequence.tokens.length);
      sequences.push(sequence);
    }
  }
  return { sequences, isTooLong, endlessTurns: turns.filter(({ end }) => end === 'unknown').length };
}

/** Turns that one text has, the longest last; groups in the order of their last turns. */
function groupTurns(turns: readonly WrittenTurn[]): WrittenTurn[][] {
  const groups: WrittenTurn[][] = [];
  for (const turn of turns.toReversed()) {
    const holder =
      turn.end === 'written' ? groups.find((group) => group.at(-1)!.text.startsWith(turn.text)) : undefined;
    if (holder) holder.unshift(turn);
    else groups.unshift([turn]);
  }
  return groups;
}

function encodeTurns(group: readonly WrittenTurn[], encoder: ConversationEncoder): TokenSequence {
  const last = group.at(-1)!;
  const { ids, find } = encoder.encodeText(last.text);
  const stop = appendedStop(last, encoder);
  const trained = new Uint8Array(ids.length + stop.length);
  for (const { from, to } of group.flatMap(({ runs }) => runs)) {
    const { first, end } = find(from, to);
    trained.fill(1, first, end);
  }
  trained.fill(1, ids.length);
  return exampleSequence([...ids, ...stop], trained);
}

/** A sequence of an example: its sampling log-probabilities are unknown. Nothing precedes the first token, so it is never trained. */
export function exampleSequence(ids: readonly number[], trained: Uint8Array): TokenSequence {
  trained[0] = 0;
  return { tokens: Int32Array.from(ids), trained, logprobs: new Float32Array(ids.length).fill(NaN) };
}
