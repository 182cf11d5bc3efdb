// A trainer with frozen 8-bit weights computes what a float32 trainer computes over the weights that they represent, and never
// holds those.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRandom } from '#base/random';
import type { TrainingPrecision } from '#engine/capabilities';
import { InferenceSession } from '#engine/onnx/graph/onnx-runtime';
import { openSession } from '#engine/onnx/graph/session';
import { serializeGraph } from '#engine/onnx/graph/to-onnx';
import { weightedCrossEntropy } from '#engine/onnx/learning/full-training';
import { lossFeeds, rowFeeds, type Feeds } from '#engine/onnx/learning/train-feeds';
import { buildTrainGraph, gradientName, type Activations } from '#engine/onnx/learning/train-graph';
import { trainingLayout } from '#engine/onnx/weights/weight-layout';
import { openWeights } from '#engine/onnx/weights/weights';
import { readDecoderConfig } from '#model-files/decoder-config';
import { linearLayers, loraParameters } from '#model-files/lora';
import { relativeDistance } from '../../support/golden/distance.ts';
import { FAMILIES, fixturePath, WITH_EXPERTS } from '../../support/golden/fixture.ts';
import { writeDequantized } from '../../support/learning/dequantized-model.ts';
import { TINY_LORA } from './run-graph.ts';
import { randomRow } from '../../support/learning/tiny-decoders.ts';

const DENSE = FAMILIES.filter((family) => !WITH_EXPERTS.includes(family));
const row = randomRow(21, 3);

async function buildGraph(modelDirectory: string, precision: TrainingPrecision, activations: Activations) {
  const config = await readDecoderConfig(modelDirectory);
  const weights = await openWeights({ modelDirectory, layout: trainingLayout(config, precision) });
  const graph = buildTrainGraph(config, TINY_LORA, weightedCrossEntropy, activations, { weights, precision });
  return { config, graph };
}

/** Loss and gradients of an adapter, also on the head, whose B is not zero. Tokens of the head come in chunks, and queries in blocks. */
async function trainOnce(modelDirectory: string, precision: TrainingPrecision, activations: Activations) {
  const { config, graph } = await buildGraph(modelDirectory, precision, activations);
  const session = await openSession(graph, { threads: 1, packsConstants: false });
  const random = createRandom(7);
  const parameters = loraParameters(linearLayers(config), TINY_LORA);
  const adapter: Feeds = Object.fromEntries(
    parameters.map(({ name, shape }) => {
      const data = Float32Array.from({ length: shape[0] * shape[1] }, () => (random.next() - 0.5) * 0.2);
      return [name, { data, dims: shape }];
    }),
  );
  const results = await session.run({
    ...rowFeeds([row], 7, 8),
    ...lossFeeds([row], weightedCrossEntropy),
    ...adapter,
  });
  await session.close();
  return {
    loss: results['loss']![0]!,
    logprobs: results['logprobs']!,
    gradients: new Map(parameters.map(({ name }) => [name, results[gradientName(name)]!])),
  };
}

test.each(DENSE)(
  '%s: gradients over 8-bit weights are those over the float32 weights that they stand for',
  async (family) => {
    const directory = fixturePath(`${family}/model`);
    const twin = await trainOnce(await writeDequantized(directory), 'float32', 'kept');
    const whole = await trainOnce(directory, 'float32', 'kept');
    const rounded = await trainOnce(directory, 'int8', 'kept');
    expect(Math.abs(rounded.loss / twin.loss - 1)).toBeLessThan(1e-6);
    expect(relativeDistance(rounded.logprobs, twin.logprobs)).toBeLessThan(1e-6);
    expect(relativeDistance(rounded.logprobs, whole.logprobs)).toBeGreaterThan(1e-5);
    expect(relativeDistance(rounded.logprobs, whole.logprobs)).toBeLessThan(0.01);
    for (const [name, gradient] of twin.gradients) {
      const own = rounded.gradients.get(name)!;
      expect(relativeDistance(own, gradient), name).toBeLessThan(1e-5);
      expect(relativeDistance(own, whole.gradients.get(name)!), name).toBeLessThan(0.1);
    }
  },
);

test.each(DENSE)('%s: over 8-bit weights too, recomputed activations give the same bits', async (family) => {
  const directory = fixturePath(`${family}/model`);
  const kept = await trainOnce(directory, 'int8', 'kept');
  const recomputed = await trainOnce(directory, 'int8', 'recomputed');
  expect(recomputed).toEqual(kept);
});

/** Of a serialized graph and its subgraphs: `op_type` is field 4 of a node. */
function countNodes(model: Uint8Array, op: string): number {
  const field = Buffer.concat([Buffer.of(0x22, op.length), Buffer.from(op)]);
  let count = 0;
  for (let at = Buffer.from(model).indexOf(field); at >= 0; at = Buffer.from(model).indexOf(field, at + 1)) count++;
  return count;
}

test.each(['kept', 'recomputed'] as const)(
  'with activations %s, every product makes its own float32 weights: they are not made at load, and not shared',
  async (activations) => {
    const { config, graph } = await buildGraph(fixturePath('qwen3/model'), 'int8', activations);
    const { model } = serializeGraph(graph);
    const directory = await mkdtemp(join(tmpdir(), 'whetstone-optimized-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const optimizedModelFilePath = join(directory, 'model.onnx');
    const session = await InferenceSession.create(model, {
      graphOptimizationLevel: 'all',
      optimizedModelFilePath,
      logSeverityLevel: 4,
    });
    await session.release();
    const written = countNodes(model, 'DequantizeLinear');
    const linears = 4 * config.layers;
    expect(written).toBeGreaterThanOrEqual(2 * linears);
    expect(countNodes(await readFile(optimizedModelFilePath), 'DequantizeLinear')).toBe(written);
  },
);

test.each(WITH_EXPERTS)('%s: experts are refused by name', async (family) => {
  const config = await readDecoderConfig(fixturePath(`${family}/model`));
  expect(() => trainingLayout(config, 'int8')).toThrow(
    `--training-precision int8 does not support models with experts (${family})`,
  );
});
