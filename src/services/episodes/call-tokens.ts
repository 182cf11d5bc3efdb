// The tokens of a call as bytes: the prompt after what it shares with its parent, then each choice's tokens and their log-probabilities.
// 4 bytes per prompt token and 8 per sampled token, little-endian like the processors that we run on; the counts are in the row.
import { invariant } from '#base/invariant';
import type { EpisodeCall } from '#domain/episode';

export interface SampledTokens {
  readonly tokenIds: Int32Array;
  /** Nats, as the sampler reported them. */
  readonly logprobs: Float32Array;
}

export interface CallTokens {
  /** The prompt without its shared beginning. */
  readonly promptTail: Int32Array;
  readonly choices: readonly SampledTokens[];
}

export function packTokens({ promptTail, choices }: CallTokens): Uint8Array {
  const parts = [promptTail, ...choices.flatMap(({ tokenIds, logprobs }) => [tokenIds, logprobs])];
  return Buffer.concat(
    parts.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
  );
}

export function unpackTokens(
  bytes: Uint8Array,
  {
    promptTokenCount,
    sharedTokenCount,
    choices,
  }: Pick<EpisodeCall, 'promptTokenCount' | 'sharedTokenCount' | 'choices'>,
): CallTokens {
  const { buffer } = new Uint8Array(bytes); // a copy of its own begins at a multiple of 4
  let at = 0;
  const next = (count: number) => {
    const from = at;
    at += 4 * count;
    invariant(at <= bytes.length, `the tokens of a call end at byte ${bytes.length}, before ${at}`);
    return from;
  };
  const tail = promptTokenCount - sharedTokenCount;
  const promptTail = new Int32Array(buffer, next(tail), tail);
  const sampled = choices.map(({ tokenCount }) => ({
    tokenIds: new Int32Array(buffer, next(tokenCount), tokenCount),
    logprobs: new Float32Array(buffer, next(tokenCount), tokenCount),
  }));
  invariant(at === bytes.length, `the tokens of a call have ${bytes.length} bytes, not ${at}`);
  return { promptTail, choices: sampled };
}
