// Sampled tokens as packed numbers: 12 bytes for each, and 12 for each alternative that is listed beside it, of which an object takes 50
// to 100. Log-probabilities stay as exact as the engine sent them. What is read from it is made when it is read.
import { createNumberList } from '#base/number-list';
import type { TokenEvent, TokenLogprob } from '#engine/inference-engine';

export type SampledToken = Pick<TokenEvent, 'tokenId' | 'logprob' | 'topLogprobs'>;

export interface CollectedTokens extends Iterable<SampledToken> {
  push(token: SampledToken): void;
  readonly length: number;
  /** Views of the tokens so far. */
  readonly ids: Int32Array;
  /** Nats. */
  readonly logprobs: Float64Array;
}

export function createCollectedTokens(): CollectedTokens {
  const sampled = createPairs();
  const listed = createPairs();
  /** Where the alternatives of each token end. Shorter than the tokens: the others' end where all do. */
  const ends = createNumberList(Int32Array);
  const endOf = (token: number): number => (token < ends.length ? ends.at(token) : listed.length);

  return {
    push({ tokenId, logprob, topLogprobs }) {
      if (topLogprobs.length > 0) {
        while (ends.length < sampled.length) ends.push(listed.length);
        for (const top of topLogprobs) listed.push(top);
      }
      sampled.push({ tokenId, logprob });
    },
    get length() {
      return sampled.length;
    },
    get ids() {
      return sampled.ids.read();
    },
    get logprobs() {
      return sampled.logprobs.read();
    },
    *[Symbol.iterator]() {
      for (let i = 0, from = 0; i < sampled.length; i++) {
        const to = endOf(i);
        yield { ...sampled.at(i), topLogprobs: listed.between(from, to) };
        from = to;
      }
    },
  };
}

function createPairs() {
  const [ids, logprobs] = [createNumberList(Int32Array), createNumberList(Float64Array)];
  const at = (i: number): TokenLogprob => ({ tokenId: ids.at(i), logprob: logprobs.at(i) });
  return {
    ids,
    logprobs,
    at,
    between: (from: number, to: number) => Array.from({ length: to - from }, (_, i) => at(from + i)),
    get length() {
      return ids.length;
    },
    push({ tokenId, logprob }: TokenLogprob): void {
      ids.push(tokenId);
      logprobs.push(logprob);
    },
  };
}
