// SampleResponse. Field numbers are those of the SDK's descriptor (tinker 0.38).
import type { TokenLogprob } from '#engine/inference-engine';
import { NO_TOKEN, type PackedLogprobs, type SampledTokens } from '../sampled-sequence.ts';
import { bytesOf } from './tensors.ts';
import { createMessage } from './wire.ts';

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

export function writeSampleResponse({
  sequences,
  promptLogprobs,
  topPromptLogprobs,
  cachedTokens,
  topK,
}: SampleResponse): Uint8Array {
  const response = createMessage();
  for (const { tokens, logprobs, best, stopReason } of sequences) {
    const sequence = createMessage()
      .integer(1, STOP_REASONS[stopReason])
      .bytes(2, bytesOf(tokens))
      .message(3, bytesOf(logprobs));
    if (best) sequence.message(4, writeTop(best, topK.sampled, tokens.length));
    response.message(1, sequence.done());
  }
  if (promptLogprobs) response.message(2, bytesOf(Float32Array.from(promptLogprobs)));
  if (topPromptLogprobs) {
    const packed = packPlaces(topPromptLogprobs, topK.prompt);
    response.message(3, writeTop(packed, topK.prompt, topPromptLogprobs.length));
  }
  return response.integer(4, cachedTokens).done();
}

function packPlaces(places: SampleResponse['topPromptLogprobs'] & object, k: number): PackedLogprobs {
  const ids = new Int32Array(places.length * k).fill(NO_TOKEN.tokenId);
  const logprobs = new Float32Array(places.length * k).fill(NO_TOKEN.logprob);
  places.forEach((best, place) =>
    best?.slice(0, k).forEach(({ tokenId, logprob }, i) => {
      ids[place * k + i] = tokenId;
      logprobs[place * k + i] = logprob;
    }),
  );
  return { ids, logprobs };
}

const writeTop = ({ ids, logprobs }: PackedLogprobs, k: number, length: number): Uint8Array =>
  createMessage().bytes(1, bytesOf(ids)).bytes(2, bytesOf(logprobs)).integer(3, k).integer(4, length).done();
