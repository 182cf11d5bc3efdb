import { expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { createJobEvents } from '../jobs/job-events.ts';
import type { SampledModel } from '../models/models.ts';
import type { Samplers } from './samplers.ts';
import { aCaller } from '../../../test/support/a-caller.ts';
import { createSampling, type SampleRequest } from './sampling.ts';

const CONTEXT = 32_768;
const ASKED: SampleRequest = {
  samplerId: 's',
  seq: '0',
  prompt: [1, 2, 3],
  n: 16,
  maxTokens: null,
  temperature: 1,
  topK: 0,
  topP: 1,
  seed: null,
  stop: null,
  promptLogprobs: false,
  promptLogprobsLast: null,
  topPromptLogprobs: 0,
  topSampledLogprobs: 0,
};
const KEY = aCaller();

/** A model that never answers. */
function open(modelOf: Samplers['modelOf'] = () => new Promise(() => {})) {
  const samplers = { get: async () => ({ entity: 'team' }), contextOf: () => CONTEXT, modelOf } as unknown as Samplers;
  const clock = { now: () => 0 };
  const limits = { checkTokens: async () => {} };
  const events = createJobEvents();
  return createSampling({ samplers, limits, events, clock, log: silentLog, waitMs: 60_000, recordUsage: () => {} });
}

async function acceptedOf(about: Partial<SampleRequest>, most: number): Promise<number> {
  const sampling = open();
  let seq = 0;
  try {
    while (seq < most) await sampling.submit(KEY, { ...ASKED, ...about, seq: String(seq++) });
    return most;
  } catch (error) {
    expect(error).toMatchObject({ code: 'too_many_requests' });
    return seq - 1;
  }
}

test('the best tokens that running samples may still list count before they are drawn', async () => {
  expect(await acceptedOf({}, 1_000)).toBe(1_000);
  expect(await acceptedOf({ maxTokens: 2_048, topSampledLogprobs: 20 }, 1_000)).toBe(37); // 5.2 MB each, of 192 MB for one key
  expect(await acceptedOf({ topSampledLogprobs: 20 }, 1_000)).toBe(5); // as many as an answer may list: 40 MB
  expect(await acceptedOf({ prompt: Array.from({ length: 10_000 }, () => 1), topPromptLogprobs: 100 }, 1_000)).toBe(24);
});

test('more of the best tokens than an answer may list are refused by name', async () => {
  const base = {
    text: { contextLength: CONTEXT, eosTokenIds: [0] },
    inference: { contextLength: CONTEXT, vocabSize: 100 },
    capabilities: { unsupportedSampling: [], promptLogprobs: true },
  };
  const sampling = open(async () => ({ base, adapter: null }) as unknown as SampledModel);
  const { requestId } = await sampling.submit(KEY, { ...ASKED, maxTokens: 16_000, topSampledLogprobs: 20 });
  const refusal = expect.stringContaining('could list 5120000 alternatives') as unknown;
  await expect
    .poll(() => sampling.retrieve(KEY, requestId, new AbortController().signal))
    .toMatchObject({ state: 'failed', category: 'user', error: refusal });
});
