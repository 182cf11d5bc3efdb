// SampleResponse. Field numbers are those of the SDK's descriptor (tinker 0.38).
import type { TokenLogprob } from '#engine/inference-engine';
import { bytesOf } from './tensors.ts';
import { createMessage } from './wire.ts';

export interface SampledTokens {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  /** Best first, for each token; empty: not requested. */
  readonly topLogprobs: readonly (readonly TokenLogprob[])[];
  readonly stopReason: 'stop' | 'length';
}

export interface SampleResponse {
  readonly sequences: readonly SampledTokens[];
  /** NaN: unknown. Null: not requested. */
  readonly promptLogprobs: readonly number[] | null;
  /** Null at a position: none. */
  readonly topPromptLogprobs: readonly (readonly TokenLogprob[] | null)[] | null;
  readonly cachedTokens: number;
  /** Of both lists of the best. */
  readonly topK: { readonly sampled: number; readonly prompt: number };
}

const STOP_REASONS = { stop: 0, length: 1 };
/** Padding for lists with fewer entries: id 0. */
const EMPTY_LOGPROB = -99_999;

export function writeSampleResponse({
  sequences,
  promptLogprobs,
  topPromptLogprobs,
  cachedTokens,
  topK,
}: SampleResponse): Uint8Array {
  const response = createMessage();
  for (const { tokens, logprobs, topLogprobs, stopReason } of sequences) {
    const sequence = createMessage()
      .integer(1, STOP_REASONS[stopReason])
      .bytes(2, bytesOf(Int32Array.from(tokens)))
      .message(3, bytesOf(Float32Array.from(logprobs)));
    if (topK.sampled > 0) sequence.message(4, writeTop(topLogprobs, topK.sampled));
    response.message(1, sequence.done());
  }
  if (promptLogprobs) response.message(2, bytesOf(Float32Array.from(promptLogprobs)));
  if (topPromptLogprobs) response.message(3, writeTop(topPromptLogprobs, topK.prompt));
  return response.integer(4, cachedTokens).done();
}

function writeTop(places: readonly (readonly TokenLogprob[] | null)[], k: number): Uint8Array {
  const ids = new Int32Array(places.length * k);
  const logprobs = new Float32Array(places.length * k).fill(EMPTY_LOGPROB);
  places.forEach((best, place) =>
    best?.slice(0, k).forEach(({ tokenId, logprob }, i) => {
      ids[place * k + i] = tokenId;
      logprobs[place * k + i] = logprob;
    }),
  );
  return createMessage()
    .bytes(1, bytesOf(ids))
    .bytes(2, bytesOf(logprobs))
    .integer(3, k)
    .integer(4, places.length)
    .done();
}
