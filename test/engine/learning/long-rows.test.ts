// Rows longer than the model's context: positions are per sequence, and a row holds several sequences.
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log';
import { createRandom } from '#base/random';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingRow } from '#engine/training-engine';
import { packRows, type Datum } from '#training/packing';
import { planRlJob } from '#training/rl-plan';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import { writeTinyModel } from '../../support/serving/tiny-model.ts';
import { encoder, group, rollout } from '../../support/training/rollouts.ts';
import { aSession } from '../../support/learning/a-session.ts';
import { plainRow, randomTokens } from '../../support/learning/tiny-decoders.ts';
import { rowLogprobs, trainRow } from '../../support/learning/one-row.ts';

const CONTEXT = 16;
const crossEntropy = { name: 'ce', perToken: { op: 'neg', x: { op: 'logprob' } }, metrics: {} } as const;

/** Every token except the first is trained. */
function datum(tokens: readonly number[]): Datum {
  const trained = Uint8Array.from(tokens, (_, i) => (i > 0 ? 1 : 0));
  const logprobs = new Float32Array(tokens.length).fill(NaN);
  return { tokens: Int32Array.from(tokens), trained, logprobs, advantage: 1, weight: 1 };
}

async function openSession(modelDirectory: string) {
  const engine = await openOnnxTrainingEngine({ modelDirectory, memoryBytes: 2e9, threads: 2, log: silentLog });
  const session = await engine.open(aSession(), AbortSignal.timeout(60_000));
  onTestFinished(async () => {
    await session.close();
    await engine.close();
  });
  return { engine, session };
}

test('sequences of a row that is longer than the context are trained as if each were alone', async () => {
  const model = await writeTinyModel('qwen3', 1, CONTEXT);
  onTestFinished(() => model.remove());
  const { engine, session } = await openSession(model.directory);
  expect(engine.limits.contextLength).toBe(CONTEXT);
  const random = createRandom(5);
  const sequences = [16, 12, 16, 9, 16].map((length) => randomTokens(length, random, 260));
  const [packed, ...others] = packRows([sequences.map((tokens) => [datum(tokens)])], 100, createRandom(1));
  expect(others).toEqual([]);
  expect(packed!.row.tokens.length).toBeGreaterThan(4 * CONTEXT);

  /** Summed over the trained tokens. */
  async function lossOf(rows: readonly TrainingRow[]): Promise<number> {
    let sum = 0;
    for (const row of rows) sum += row.targets.length * (await trainRow(session, row, crossEntropy)).loss;
    return sum;
  }
  const alone = packed!.members.map(({ tokens }) => plainRow([...tokens], {}));
  const expected: number[] = [];
  for (const row of alone) expected.push(...(await rowLogprobs(session, row)));
  const found = await rowLogprobs(session, packed!.row);
  expect(found).toHaveLength(expected.length);
  found.forEach((logprob, i) => expect(Math.abs(logprob - expected[i]!)).toBeLessThan(1e-5));
  const [together, apart] = [await lossOf([packed!.row]), await lossOf(alone)];
  expect(Math.abs(together - apart)).toBeLessThan(1e-5 * Math.abs(apart));

  const beyond = plainRow(randomTokens(CONTEXT + 1, random, 260), {});
  await expect(rowLogprobs(session, beyond)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('position 16') as string,
  });
});

test('a default job on the starter model takes the optimiser steps of rows of 2048 tokens', async () => {
  const { engine } = await openSession(STARTER_DIRECTORY);
  expect(engine.limits.contextLength).toBe(1024);
  const random = createRandom(7);
  const answer = () => String.fromCharCode(...Array.from({ length: 300 }, () => 97 + random.integer(26)));
  const groups = [1, 2, 3, 4, 5, 6].map(() => group(rollout(0, answer()), rollout(1, answer())));
  const plan = await planRlJob(groups, {}, { encoder, budget: engine.limits, seed: () => 'starter' });
  expect(plan.rows.map(({ sequenceCount }) => sequenceCount)).toEqual([6, 6]); // one step each; sequences of 300 tokens and a prompt
  expect(plan.warnings).toEqual([]);
});
