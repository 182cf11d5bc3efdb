// DPO teaches a preference for pairs that were never trained: the starter is careless with sums, and learns to prefer the right
// one. Nothing is sampled, so the result is the same everywhere except for rounding; the bounds are far from it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { createRandom } from '#base/random';
import type { PreferencePair } from '#domain/dpo';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingEngine } from '#engine/training-engine';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import { readTextModel } from '#text/text-model';
import { evaluateDpo, scoreReference, trainDpo } from '#training/dpo-job';
import { drawPair } from '../../../scripts/starter/world/addition.ts';
import { NO_LIMITS } from '../../support/golden/no-limits.ts';
import { STARTER } from '../../support/golden/sft-rows.ts';
import { planPairs } from '../../support/training/planned-dpo.ts';
import { aSession } from '../../support/learning/a-session.ts';

const [TRAINED, HELD] = [96, 32];
const WRONG_BY = [-10, -2, -1, 1, 2, 10];

let engine: TrainingEngine;
beforeAll(async () => {
  engine = await openOnnxTrainingEngine({ modelDirectory: STARTER, threads: 1, memoryBytes: 4e9, log: silentLog });
});
afterAll(() => engine.close());

test.each([1, 2])(
  'the right sum is preferred to a wrong one, of sums that were held out too (data %i)',
  async (seed) => {
    const random = createRandom(seed);
    const pair = (isHeld: boolean): PreferencePair => {
      const [a, b] = drawPair(random, isHeld);
      const wrong = a + b + WRONG_BY[random.integer(WRONG_BY.length)]!;
      return {
        prompt: [{ role: 'user', content: `What is ${a} + ${b}?` }],
        chosen: [{ role: 'assistant', content: String(a + b) }],
        rejected: [{ role: 'assistant', content: String(Math.abs(wrong)) }],
        tools: null,
      };
    };
    const pairs = Array.from({ length: TRAINED + HELD }, (_, i) => pair(i >= TRAINED));
    const encoder = createConversationEncoder('starter', await readTextModel(STARTER), 1626);
    const config = { learningRate: 2e-3, batchSize: 16, epochs: 2, validationSplit: HELD / (TRAINED + HELD) };
    const plan = await planPairs(pairs, config, { encoder, budget: NO_LIMITS });
    const lora = { rank: 8, alpha: 16, seed };
    const session = await engine.open(aSession({ lora }), AbortSignal.timeout(60_000));
    const reference = (await scoreReference(session, plan, async () => true))!;
    const before = (await evaluateDpo(session, plan, reference))!;
    expect(before).toMatchObject({ 'rewards/margins': 0, 'rewards/accuracies': 0 });
    expect(before['loss']!).toBeCloseTo(Math.LN2, 12);
    const losses: number[] = [];
    for await (const { loss } of trainDpo(session, plan, reference, 0)) losses.push(loss!);
    const after = (await evaluateDpo(session, plan, reference))!;
    await session.close();
    expect(losses.at(-1)!).toBeLessThan(0.65);
    expect(after['loss']!).toBeLessThan(0.65);
    expect(after['rewards/accuracies']!).toBeGreaterThan(0.75);
    expect(after['rewards/margins']!).toBeGreaterThan(0.15);
  },
  120_000,
);
