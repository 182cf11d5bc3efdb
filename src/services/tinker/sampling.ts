// Sampling for Tinker clients: token ids in, sequences with log-probabilities out. A sample starts when it is accepted, and its answer is
// kept in memory until it is fetched; a client whose answer was lost asks again.
import { createHash, randomInt } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import pRetry from 'p-retry';
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import type { Caller } from '#domain/caller';
import { AppError, publicError } from '#domain/errors';
import { PLAIN_SAMPLING, type SamplingParams } from '#domain/sampling';
import type { GenerateRequest, RankedLogprob } from '#engine/inference-engine';
import type { AccountLimits } from '../accounts/account-limits.ts';
import { beginAnswer, type AnswerDeps } from '../chat/answer.ts';
import { checkSampling } from '../chat/check-capabilities.ts';
import { checkListed, LISTED_MAX } from '../chat/listed-alternatives.ts';
import { refuseUnknownTokens } from '../chat/tokenization.ts';
import type { SampledModel } from '../models/models.ts';
import type { JobEvents } from '../jobs/job-events.ts';
import { createKeptSamples, type KeptSample } from './kept-samples.ts';
import type { FutureAnswer } from './operation-results.ts';
import { writeSampleResponse } from './protobuf/sample.ts';
import { BYTES_PER_LOGPROB, createSampledSequence, type SampledTokens } from './sampled-sequence.ts';
import type { Samplers } from './samplers.ts';

export interface SampleRequest {
  readonly samplerId: string;
  /** Decimal digits: clients that were copied to another process count from far beyond 2^53. */
  readonly seq: string;
  readonly prompt: readonly number[];
  readonly n: number;
  readonly maxTokens: number | null;
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly seed: number | null;
  /** Null: only the model's end token. Otherwise what ends it in addition; empty: nothing, not even the model's end token. */
  readonly stop: { readonly tokenIds: readonly number[]; readonly texts: readonly string[] } | null;
  readonly promptLogprobs: boolean;
  /** Only for the last N tokens; null: for all. */
  readonly promptLogprobsLast: number | null;
  readonly topPromptLogprobs: number;
  readonly topSampledLogprobs: number;
}

export interface AcceptedSample {
  readonly requestId: string;
  /** One for each sample. */
  readonly sequenceIds: readonly string[];
}

export interface Sampling {
  /** Throws `not_found`, `too_many_requests` (retry), `invalid_request` for a number that was used with another body. */
  submit(caller: Caller, request: SampleRequest): Promise<AcceptedSample>;
  /** Waits a while. Null: it is unknown, or no longer kept. */
  retrieve(caller: Caller, requestId: string, signal: AbortSignal): Promise<FutureAnswer | null>;
  /** Drops answers that were not fetched for long. */
  clear(): void;
  stop(): void;
}

export interface SamplingDeps extends AnswerDeps {
  readonly samplers: Samplers;
  readonly limits: Pick<AccountLimits, 'checkTokens'>;
  readonly events: JobEvents;
  readonly clock: Clock;
  readonly log: Log;
  readonly waitMs: number;
}

interface Sample extends AcceptedSample, KeptSample {
  readonly entity: string;
  readonly bodyHash: string;
  answer: FutureAnswer;
}

/** Maximum accepted and not fetched: each is an open long poll of its client. As many that were fetched are kept too. */
const SAMPLES_MAX = 4_096;
/** An answer may be fetched twice, because the first response may be lost. */
const KEPT_MS = 10 * 60_000;
/** Of prompts that wait or are sampled, of what was drawn for them, and of answers. */
const KEPT_BYTES_MAX = 256_000_000;
const BYTES_PER_TOKEN = 8;
const SEEDS = 2 ** 31;
/** Retries while the engine's queue is full. */
const SAMPLE_RETRIES = { retries: 60, minTimeout: 250, maxTimeout: 5_000, maxRetryTime: 10 * 60_000 };

export const SAMPLE_PREFIX = 'sample-';

export function createSampling({ samplers, limits, events, clock, log, waitMs, recordUsage }: SamplingDeps): Sampling {
  const kept = createKeptSamples<Sample>({ clock, samplesMax: SAMPLES_MAX, bytesMax: KEPT_BYTES_MAX, keptMs: KEPT_MS });
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // each running sample listens

  async function run(caller: Caller, request: SampleRequest, sample: Sample): Promise<void> {
    try {
      await limits.checkTokens(caller);
      const model = await samplers.modelOf(await samplers.get(caller, request.samplerId));
      const generate = generationOf(caller, request, sample.requestId, model);
      const bytes = await pRetry(() => answer(caller, request, model, generate, sample), {
        ...SAMPLE_RETRIES,
        signal: stopping.signal,
        shouldRetry: ({ error }) => error instanceof AppError && error.code === 'too_many_requests',
      });
      sample.answer = { state: 'message', bytes };
    } catch (error) {
      const refusal = publicError(error);
      const isTheirs = refusal.code !== 'internal' && refusal.code !== 'engine_unavailable';
      if (refusal.code === 'internal') log.error('tinker_sample.failed', { err: error });
      sample.answer = { state: 'failed', error: refusal.message, category: isTheirs ? 'user' : 'server' };
    }
    kept.ended(sample, sample.answer.state === 'message' ? sample.answer.bytes.length : 0);
    events.notify(sample.requestId);
  }

  async function answer(
    caller: Caller,
    request: SampleRequest,
    model: SampledModel,
    generate: GenerateRequest,
    sample: Sample,
  ): Promise<Uint8Array> {
    const { eosTokenIds } = model.base.text;
    const context = { caller, project: '', requestId: generate.requestId, signal: stopping.signal };
    const choice = {
      stops: request.stop?.texts ?? [],
      includeStop: true,
      minTokens: 0,
      skipSpecialTokens: false,
      primaryEos: eosTokenIds[0] ?? null,
      reasoning: null,
      tools: null,
    };
    const asked = { model, generate, choice, beamSearch: null, remember: null, capture: null };
    const { deltas, prompt } = beginAnswer({ recordUsage, clock, log }, context, asked);
    const drawn = Array.from({ length: request.n }, () => createSampledSequence(request.topSampledLogprobs));
    const stopReasons = drawn.map((): SampledTokens['stopReason'] => 'length');
    for await (const { choiceIndex, token, finish } of deltas) {
      if (token) drawn[choiceIndex]!.add(token);
      if (token) kept.grew(sample, BYTES_PER_LOGPROB); // the best beside it were counted when the sample was accepted
      if (finish) stopReasons[choiceIndex] = finish.reason === 'length' ? 'length' : 'stop';
    }
    const ofPrompt = promptLogprobs(request, prompt.report?.logprobs ?? null);
    return writeSampleResponse({
      sequences: drawn.map((sequence, i) => sequence.read(stopReasons[i]!)),
      ...ofPrompt,
      cachedTokens: prompt.report?.cachedTokenCount ?? 0,
      topK: { sampled: request.topSampledLogprobs, prompt: request.topPromptLogprobs },
    });
  }

  return {
    async submit(caller, request) {
      const { samplerId, seq, n } = request;
      const sampler = await samplers.get(caller, samplerId);
      const { entity } = sampler;
      const bodyHash = createHash('sha256').update(JSON.stringify(request)).digest('hex');
      const number = `${samplerId}/${seq}`;
      const existing = kept.findByNumber(number);
      if (existing) {
        if (existing.bodyHash === bodyHash) return existing;
        throw new AppError('invalid_request', `Request ${seq} of ${samplerId} was already sent with another body.`);
      }
      const requestId = `${SAMPLE_PREFIX}${createId()}`;
      const sequenceIds = Array.from({ length: n }, (_, i) => `${requestId}-${i}`);
      const sample: Sample = {
        requestId,
        number,
        payer: caller.keyId,
        sequenceIds,
        entity,
        bodyHash,
        answer: { state: 'pending', waitingFor: null },
        endedAtMs: null,
        bytes: bytesOf(request, samplers.contextOf(sampler)),
      };
      if (!kept.add(sample)) {
        const message =
          `This key has as many samples that run or have not been retrieved as it may. All keys together may have ${SAMPLES_MAX}, ` +
          `with ${KEPT_BYTES_MAX / 1e6} MB of prompts and answers, and one key three quarters of what others leave. Retrieve some first.`;
        throw new AppError('too_many_requests', message, { retryAfterSeconds: 1 });
      }
      void run(caller, request, sample);
      return sample;
    },

    async retrieve({ entity }, requestId, signal) {
      const sample = kept.find(requestId);
      if (!sample || sample.entity !== entity) return null;
      if (sample.answer.state === 'pending') await events.wait(requestId, waitMs, signal);
      if (sample.answer.state !== 'pending') kept.fetched(sample);
      return sample.answer;
    },
    clear: () => kept.clear(),
    stop: () => stopping.abort(),
  };
}

/**
 * What a sample holds at once, and the most that the best tokens beside its own may become: their number is a product of fields of the
 * request, while tokens alone come no faster than the engine samples. More of them than LISTED_MAX are refused when it runs.
 */
function bytesOf(
  { prompt, n, maxTokens, topSampledLogprobs, topPromptLogprobs }: SampleRequest,
  context: number,
): number {
  const best = n * Math.min(maxTokens ?? context, context) * topSampledLogprobs + prompt.length * topPromptLogprobs;
  return BYTES_PER_TOKEN * prompt.length + BYTES_PER_LOGPROB * Math.min(best, LISTED_MAX);
}

/** Throws `invalid_request`, `context_length_exceeded`. */
function generationOf(
  { entity, keyId }: Caller,
  request: SampleRequest,
  requestId: string,
  { base, adapter }: SampledModel,
): GenerateRequest {
  const { text, inference, capabilities } = base;
  const { prompt, stop } = request;
  refuseUnknownTokens(prompt, inference.vocabSize, 'prompt');
  const contextLength = Math.min(text.contextLength, inference.contextLength);
  const room = contextLength - prompt.length;
  if (prompt.length === 0) throw new AppError('invalid_request', 'The prompt is empty.');
  if (room < (request.maxTokens ?? 1)) {
    const message = `This model's maximum context length is ${contextLength} tokens, but the prompt has ${prompt.length} and max_tokens is ${request.maxTokens ?? 1}. Shorten the prompt, or lower max_tokens.`;
    throw new AppError('context_length_exceeded', message);
  }
  const endsItself = stop === null || stop.tokenIds.length > 0 || stop.texts.length > 0;
  const stopTokenIds = [...new Set([...(endsItself ? text.eosTokenIds : []), ...(stop?.tokenIds ?? [])])];
  const asksPrompt = request.promptLogprobs || request.topPromptLogprobs > 0;
  const sampling: SamplingParams = {
    ...PLAIN_SAMPLING,
    temperature: request.temperature,
    topK: Math.max(0, request.topK),
    topP: request.topP,
    seed: request.seed ?? randomInt(SEEDS),
    maxTokens: request.maxTokens ?? room,
    stopTokenIds,
    endTokenIds: stopTokenIds,
    topLogprobs: request.topSampledLogprobs,
    promptLogprobs: asksPrompt ? request.topPromptLogprobs : null,
  };
  checkSampling(sampling, capabilities);
  checkListed([{ n: request.n, promptTokens: prompt, sampling }], inference.vocabSize, 'topk_sample_logprobs');
  const cacheScope = JSON.stringify([entity, null]);
  return {
    requestId,
    promptTokens: prompt,
    adapter,
    sampling,
    n: request.n,
    constraint: null,
    priority: 0,
    payer: keyId,
    cacheScope,
  };
}

/** The best tokens at each position, including the sampled one if it is among them. */
function promptLogprobs(
  { promptLogprobs: wanted, promptLogprobsLast, topPromptLogprobs: k }: SampleRequest,
  ranked: readonly (readonly RankedLogprob[] | null)[] | null,
) {
  const from = promptLogprobsLast === null ? 0 : Math.max(0, (ranked?.length ?? 0) - promptLogprobsLast);
  const shown = ranked?.map((each, place) => (place < from ? null : each)) ?? null;
  return {
    promptLogprobs: wanted && shown ? shown.map((each) => each?.[0]?.logprob ?? NaN) : null,
    topPromptLogprobs:
      k > 0 && shown ? shown.map((each) => each && each.toSorted((a, b) => a.rank - b.rank).slice(0, k)) : null,
  };
}
