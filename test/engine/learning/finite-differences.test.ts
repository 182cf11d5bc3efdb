import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { normalizeWeights, weightedCrossEntropy } from '#engine/onnx/learning/full-training';
import { openGraph, TINY_LORA, type OpenGraph } from './run-graph.ts';
import { randomRow, tinyConfig, TINY_FAMILIES } from '../../support/learning/tiny-decoders.ts';

// float32 losses near 3 carry errors of about 3e-7, so steps of 2e-2 leave about 2e-5 in a difference.
const STEP = 2e-2;
const TOLERANCE = 4e-4;
const PROBES_PER_TENSOR = 12;

const rows = normalizeWeights([randomRow(9, 1), randomRow(6, 2)]);

test.each(TINY_FAMILIES)('%s: the gradient of every kind of weight equals finite differences', async (family) => {
  await checkGradients(await openGraph(tinyConfig(family), null, weightedCrossEntropy));
});

test.each(TINY_FAMILIES)('%s: the gradient of every adapter matrix equals finite differences', async (family) => {
  await checkGradients(await openGraph(tinyConfig(family), TINY_LORA, weightedCrossEntropy));
});

test('adapters on some of the modules have the same gradients', async () => {
  const targets = ['q_proj', 'v_proj', 'up_proj'] as const;
  await checkGradients(await openGraph(tinyConfig('qwen3'), { ...TINY_LORA, targets }, weightedCrossEntropy));
});

async function checkGradients(graph: OpenGraph): Promise<void> {
  const random = createRandom(9);
  const analytic = await graph.run(rows);
  let largest = 0;
  for (const [name, tensor] of graph.trained) {
    const gradient = analytic.gradients.get(name)!;
    expect(gradient.length).toBe(tensor.length);
    for (let probe = 0; probe < PROBES_PER_TENSOR; probe++) {
      const i = random.integer(tensor.length);
      const at = tensor[i]!;
      const lossAt = async (x: number): Promise<number> => {
        tensor[i] = x;
        const { loss } = await graph.run(rows);
        tensor[i] = at;
        return loss;
      };
      // Richardson extrapolation: the error of the central difference is of fourth order.
      const central = async (h: number) => ((await lossAt(at + h)) - (await lossAt(at - h))) / (2 * h);
      const expected = (4 * (await central(STEP / 2)) - (await central(STEP))) / 3;
      expect(Math.abs(gradient[i]! - expected), `${name}[${i}]`).toBeLessThan(TOLERANCE);
      largest = Math.max(largest, Math.abs(expected));
    }
  }
  expect(largest).toBeGreaterThan(0.05); // the gradients are not negligible
  await graph.close();
}
