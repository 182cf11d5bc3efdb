// Training of all weights against PyTorch: log-probabilities, cross-entropy, and the norm of the whole gradient.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFullTraining, type FullTrainingSession } from '#engine/onnx/learning/full-training';
import { FAMILIES, openModelFixture, WITH_EXPERTS, type ModelFixture } from '../../support/golden/fixture.ts';
import { goldenLoss } from '../../support/golden/loss-programs.ts';
import { LAYOUTS, trainingRow } from '../../support/golden/training-rows.ts';

const STILL = { learningRate: 0, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 0 };

test.each(WITH_EXPERTS)('%s: all weights of a model with experts are not trained', async (family) => {
  const { model } = await openModelFixture(family);
  const opening = openFullTraining({ directory: model, seed: 0, threads: 1, resume: true });
  await expect(opening).rejects.toThrow(/experts have no gradient/);
});

describe.each(FAMILIES.filter((family) => !WITH_EXPERTS.includes(family)))('%s', (family) => {
  let fixture: ModelFixture;
  let session: FullTrainingSession;
  beforeAll(async () => {
    fixture = await openModelFixture(family);
    session = await openFullTraining({ directory: fixture.model, seed: 0, threads: 1, resume: true });
  });
  afterAll(() => session.close());

  test.each(LAYOUTS)('with %s, loss and gradient norm of all weights are those of PyTorch', async (layout) => {
    const { full, tolerance, clip } = fixture.expected;
    const { loss } = await session.forwardBackward([trainingRow(fixture, layout)], goldenLoss('cross_entropy', clip));
    const { gradNorm } = await session.optimStep(STILL);
    expect(Math.abs(loss / full.loss - 1)).toBeLessThan(tolerance.loss);
    expect(Math.abs(gradNorm / full.gradNorm - 1)).toBeLessThan(tolerance.gradNorm);
  });
});
