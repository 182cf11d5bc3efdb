// One choice of a chat answer: token events in, text out, cut at stop strings, with the reason for its end. Finish and
// stop reasons are vLLM's: the primary end-of-sequence token gives no stop_reason, other stop tokens give their id, a
// stop string gives itself.
import type { FinishReason } from '#domain/sampling';
import type { TokenEvent } from '#engine/inference-engine';
import { createDetokenizer } from '#text/detokenizer';
import { createStopMatcher } from '#text/stop';
import type { Tokenizer } from '#text/tokenizer';

export interface Finish {
  readonly reason: FinishReason;
  readonly stopReason: string | number | null;
}

export interface ChoiceText {
  /** `text`: what may be shown now; the rest is held back until it is sure to be no part of a stop string. */
  push(event: TokenEvent): { text: string; finish: Finish | null };
}

export function createChoiceText(
  tokenizer: Tokenizer,
  stops: readonly string[],
  primaryEos: number | null,
): ChoiceText {
  const detokenizer = createDetokenizer(tokenizer, { skipSpecialTokens: true });
  const matcher = createStopMatcher(stops, { include: false });
  return {
    push({ tokenId, finishReason }) {
      // A stop token ends the text; it is not part of it, whether or not the tokenizer calls it special.
      const pushed = finishReason === 'stop' ? '' : detokenizer.push(tokenId);
      const piece = finishReason === null ? pushed : pushed + detokenizer.flush();
      const { text, matched } = matcher.push(piece);
      if (matched !== null) return { text, finish: { reason: 'stop', stopReason: matched } };
      if (finishReason === null) return { text, finish: null };
      const stopReason = finishReason === 'stop' && tokenId !== primaryEos ? tokenId : null;
      return { text: text + matcher.flush(), finish: { reason: finishReason, stopReason } };
    },
  };
}
