// Sampling sessions, and sampling in them.
import type { z } from 'zod';
import { AppError } from '#domain/errors';
import type { Tinker } from '#services/tinker/tinker';
import type { SampleRequest } from '#services/tinker/sampling';
import type { Endpoint } from '../http/endpoint.ts';
import * as answers from './tinker-answers.ts';
import { tinkerRoute } from './tinker-endpoint.ts';
import * as wire from './tinker-schema.ts';

export function samplingRoutes({ samplers, sampling }: Pick<Tinker, 'samplers' | 'sampling'>): Endpoint[] {
  return [
    tinkerRoute('POST /create_sampling_session', {
      summary: 'Create a sampling session of a base model, or of saved weights',
      access: 'chat',
      errors: [400, 404],
      body: wire.createSamplingSession,
      answer: answers.samplingSession,
      async handle({ caller, body }) {
        const { session_id: sessionId, sampling_session_seq_id: ordinal } = body;
        const [baseModel, modelPath] = [body.base_model ?? null, body.model_path ?? null];
        if (baseModel === null && modelPath === null)
          throw new AppError('invalid_request', 'Send base_model or model_path.');
        const { id } = await samplers.create(caller, { sessionId, ordinal, baseModel, modelPath });
        return { sampling_session_id: id };
      },
    }),
    tinkerRoute('GET /samplers/{sampler_id}', {
      summary: 'Read what a sampling session samples from',
      access: 'chat',
      errors: [404],
      answer: answers.sampler,
      async handle({ caller, params }) {
        const { id, servedAs, modelPath } = await samplers.get(caller, params['sampler_id']!);
        return { sampler_id: id, base_model: servedAs, ...(modelPath === null ? {} : { model_path: modelPath }) };
      },
    }),
    tinkerRoute('POST /asample', {
      summary: 'Sample continuations of token ids',
      access: 'chat',
      role: 'serve',
      errors: [400, 404, 429],
      body: wire.sample,
      answer: answers.sampleFuture,
      async handle({ caller, body }) {
        const { requestId, sequenceIds } = await sampling.submit(caller, readSample(body));
        return { request_id: requestId, sample_sequence_ids: sequenceIds };
      },
    }),
  ];
}

function readSample(body: z.output<typeof wire.sample>): SampleRequest {
  const { sampling_params: params } = body;
  return {
    samplerId: body.sampling_session_id,
    seq: String(body.seq_id),
    prompt: body.prompt.chunks.flatMap(({ tokens }) => tokens),
    n: body.num_samples,
    maxTokens: params.max_tokens ?? null,
    temperature: params.temperature,
    topK: params.top_k,
    topP: params.top_p,
    seed: params.seed ?? null,
    stop: readStop(params.stop),
    promptLogprobs: body.prompt_logprobs ?? false,
    promptLogprobsLast: body.prompt_logprobs_last_n ?? null,
    topPromptLogprobs: body.topk_prompt_logprobs ?? 0,
    topSampledLogprobs: body.topk_sample_logprobs ?? 0,
  };
}

function readStop(stop: z.output<typeof wire.sample>['sampling_params']['stop']): SampleRequest['stop'] {
  if (stop === null || stop === undefined) return null;
  const all: readonly (string | number)[] = typeof stop === 'string' ? [stop] : stop;
  return {
    tokenIds: all.filter((each) => typeof each === 'number'),
    texts: all.filter((each) => typeof each === 'string'),
  };
}
