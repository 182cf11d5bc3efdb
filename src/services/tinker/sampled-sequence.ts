// One sequence of a sample while it is drawn: its tokens, their log-probabilities and the best tokens at each place, as packed numbers. A
// sample stays in memory until its client fetches it, and an object for each of the best would take six times as much.
import type { TokenLogprob } from '#engine/inference-engine';

/** An id and a log-probability: of each token, and of each of its best. */
export const BYTES_PER_LOGPROB = 8;

export interface SampledTokens {
  readonly tokens: Int32Array;
  /** One for each token. */
  readonly logprobs: Float32Array;
  /** `[tokens · k]`, best first at each token; null: not requested. */
  readonly best: PackedLogprobs | null;
  readonly stopReason: 'stop' | 'length';
}

export interface SampledSequence {
  /** Best first; fewer than `k` are padded, further ones dropped. */
  add(token: TokenLogprob & { readonly topLogprobs: readonly TokenLogprob[] }): void;
  read(stopReason: SampledTokens['stopReason']): SampledTokens;
}

/** `k`: how many of the best tokens are kept at each place; 0: none. */
export function createSampledSequence(k: number): SampledSequence {
  const [sampled, best] = [createPacked(), createPacked()];
  return {
    add({ tokenId, logprob, topLogprobs }) {
      sampled.add(tokenId, logprob);
      for (let i = 0; i < k; i++) {
        const { tokenId: id, logprob: of } = topLogprobs[i] ?? NO_TOKEN;
        best.add(id, of);
      }
    },
    read(stopReason) {
      const { ids, logprobs } = sampled.read();
      return { tokens: ids, logprobs, best: k > 0 ? best.read() : null, stopReason };
    },
  };
}

/** Padding of the protocol for lists with fewer entries: id 0. */
export const NO_TOKEN: TokenLogprob = { tokenId: 0, logprob: -99_999 };

export interface PackedLogprobs {
  readonly ids: Int32Array;
  /** Nats. */
  readonly logprobs: Float32Array;
}

const FIRST_SIZE = 64;

/** A list that grows to twice its size when it is full. */
function createPacked() {
  let [ids, logprobs] = [new Int32Array(0), new Float32Array(0)];
  let count = 0;
  return {
    add(id: number, logprob: number): void {
      if (count === ids.length) {
        const size = Math.max(FIRST_SIZE, 2 * count);
        const [before, beforeThem] = [ids, logprobs];
        [ids, logprobs] = [new Int32Array(size), new Float32Array(size)];
        ids.set(before);
        logprobs.set(beforeThem);
      }
      ids[count] = id;
      logprobs[count++] = logprob;
    },
    read: (): PackedLogprobs => ({ ids: ids.subarray(0, count), logprobs: logprobs.subarray(0, count) }),
  };
}
