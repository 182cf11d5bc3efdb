// Weighted cross-entropy that also reports, for every skill, the mean loss of its answers. Each skill is an input of its
// own: 1 ÷ (answer tokens of the skill in the batch) on those tokens, 0 elsewhere.
import type { LossExpression, LossProgram } from '#engine/loss-program';
import type { TrainingRow } from '#engine/training-engine';
import type { CorpusRow } from './make-corpus.ts';
import { SKILLS } from './world/world.ts';

const negative: LossExpression = { op: 'neg', x: { op: 'logprob' } };
const inputName = (skillIndex: number): string => `skill${skillIndex}`;
const times = (name: string): LossExpression => ({ op: 'mul', x: negative, y: { op: 'input', name } });

/** Σ weight · cross-entropy, with weights that sum to 1 over the batch. */
export const skillLoss: LossProgram = {
  name: 'starter-skills',
  perToken: times('weights'),
  denominator: 'one',
  metrics: Object.fromEntries(SKILLS.map(({ name }, i) => [name, times(inputName(i))])),
};

/** Rows with the inputs that skillLoss reads. Metrics are means over all trained tokens, hence the factor. */
export function withLossInputs(batch: readonly CorpusRow[]): TrainingRow[] {
  const answerCounts = SKILLS.map(() => 0);
  let [weightSum, trainedCount] = [0, 0];
  for (const { row, skillIndexes } of batch) {
    row.inputs['weights']!.forEach((weight, t) => {
      weightSum += weight;
      trainedCount++;
      if (weight === 1) answerCounts[skillIndexes[t]!]!++;
    });
  }
  return batch.map(({ row, skillIndexes }) => {
    const weights = row.inputs['weights']!;
    const inputs: Record<string, Float32Array> = { weights: weights.map((weight) => weight / weightSum) };
    SKILLS.forEach((_, i) => {
      const share = answerCounts[i] === 0 ? 0 : trainedCount / answerCounts[i]!;
      inputs[inputName(i)] = Float32Array.from(weights, (weight, t) =>
        weight === 1 && skillIndexes[t] === i ? share : 0,
      );
    });
    return { ...row, inputs };
  });
}
