import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { openSession } from '#engine/onnx/graph/session';
import { allocateFusedWeights, fusedParameters } from '#engine/onnx/learning/fused-weights';
import { normalizeWeights, weightedCrossEntropy } from '#engine/onnx/learning/full-training';
import { buildTrainGraph, gradientName } from '#engine/onnx/learning/train-graph';
import { lossFeeds, rowFeeds } from '#engine/onnx/learning/train-feeds';
import { randomRow, tinyConfig, TINY_FAMILIES } from './tiny-decoders.ts';

// float32 losses near 3 carry errors of about 3e-7, so steps of 2e-2 leave about 2e-5 in a difference.
const STEP = 2e-2;
const TOLERANCE = 4e-4;

test.each(TINY_FAMILIES)('%s: the gradient of every kind of weight equals finite differences', async (family) => {
  const config = tinyConfig(family);
  const random = createRandom(5);
  const { tensors, views } = allocateFusedWeights(config);
  for (const [name, view] of views) {
    const offset = name.includes('norm') ? 1 : 0;
    view.forEach((_, i) => (view[i] = offset + (random.next() - 0.5) * 0.6));
  }
  const session = await openSession(buildTrainGraph(config, null, weightedCrossEntropy), { threads: 1 });
  const rows = normalizeWeights([randomRow(9, 1), randomRow(6, 2)]);
  const weights = Object.fromEntries(
    fusedParameters(config).map(({ name, shape }) => [name, { data: tensors.get(name)!, dims: shape }]),
  );
  const run = () => session.run({ ...rowFeeds(rows), ...lossFeeds(rows, weightedCrossEntropy), ...weights });
  const analytic = await run();
  let largest = 0;
  for (const [name, tensor] of tensors) {
    const gradient = analytic[gradientName(name)]!;
    expect(gradient.length).toBe(tensor.length);
    for (let probe = 0; probe < 12; probe++) {
      const i = random.integer(tensor.length);
      const at = tensor[i]!;
      const lossAt = async (x: number) => {
        tensor[i] = x;
        const { loss } = await run();
        tensor[i] = at;
        return loss![0]!;
      };
      // Richardson: the error of the central difference is of fourth order.
      const central = async (h: number) => ((await lossAt(at + h)) - (await lossAt(at - h))) / (2 * h);
      const expected = (4 * (await central(STEP / 2)) - (await central(STEP))) / 3;
      expect(Math.abs(gradient[i]! - expected), `${name}[${i}]`).toBeLessThan(TOLERANCE);
      largest = Math.max(largest, Math.abs(expected));
    }
  }
  expect(largest).toBeGreaterThan(0.05); // the test sees something
  await session.close();
});
