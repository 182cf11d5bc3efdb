// Two implementations of one program: the engine's graph of a policy loss has the value of the plain evaluator.
import { expect, test } from 'vitest';
import { gradients } from '#engine/onnx/graph/autodiff';
import { Graph } from '#engine/onnx/graph/graph';
import { openSession } from '#engine/onnx/graph/session';
import { lossInputName, lowerLoss, programInputs } from '#engine/onnx/learning/lower-loss';
import { createRandom } from '#base/random';
import { evaluateLoss } from '#training/loss-reference';
import { crossEntropyLoss, policyLoss } from '#training/losses';
import { LOSS_CONFIGS } from '../../support/training/loss-config.ts';

const PROGRAMS = [
  ...LOSS_CONFIGS.map(({ name, config }) => [name, policyLoss(config)] as const),
  ['cross-entropy', crossEntropyLoss] as const,
];

test.each(PROGRAMS)('%s: value, metrics and gradient are those of the reference', async (_, program) => {
  const random = createRandom(3);
  const count = 40;
  const draw = (low: number, high: number) =>
    Array.from({ length: count }, () => Math.fround(low + (high - low) * random.next()));
  const values = {
    logprobs: draw(-3, -0.1),
    entropies: draw(0, 3),
    oldLogprobs: draw(-3, -0.1).map((logprob, i) => (i % 7 === 0 ? NaN : logprob)),
    sampledLogprobs: draw(-3, -0.1).map((logprob, i) => (i % 5 === 0 ? NaN : logprob)),
    referenceLogprobs: draw(-3, -0.1),
    advantages: draw(-2, 2),
    weights: draw(0.2, 2),
  };
  const g = new Graph();
  const logprob = g.input('logprob', 'float32', ['trained']);
  const entropy = g.input('entropy', 'float32', ['trained']);
  const lowered = lowerLoss(g, program, { logprob, entropy });
  g.output('loss', lowered.loss);
  g.output('gradient', gradients(g, lowered.loss, [logprob])[0]!);
  for (const [name, metric] of lowered.metrics) g.output(`metric.${name}`, metric);
  const session = await openSession(g, { threads: 1 });
  const feed = (numbers: readonly number[]) => ({ data: Float32Array.from(numbers), dims: [count] });
  const wanted: Record<string, readonly number[]> = { logprob: values.logprobs, entropy: values.entropies };
  for (const name of programInputs(program)) wanted[lossInputName(name)] = values[name as keyof typeof values];
  const sequenceIds = Array.from({ length: count }, (_, i) => Math.floor(i / 11));
  const membership = { data: new Float32Array(4 * count), dims: [4, count] };
  sequenceIds.forEach((sequence, i) => (membership.data[sequence * count + i] = 1));
  const feeds = g.inputs.map(({ name }) => [name, name === 'membership' ? membership : feed(wanted[name]!)] as const);
  const result = await session.run(Object.fromEntries(feeds));
  await session.close();

  const expected = evaluateLoss(program, {
    logprobs: values.logprobs,
    entropies: values.entropies,
    sequenceIds,
    inputs: values,
  });
  expect(result['loss']![0]).toBeCloseTo(expected.loss, 4);
  expected.gradient.forEach((slope, i) => expect(result['gradient']![i]).toBeCloseTo(slope, 5));
  for (const [name, value] of Object.entries(expected.metrics))
    expect(result[`metric.${name}`]![0]).toBeCloseTo(value, 4);
});
