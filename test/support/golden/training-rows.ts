// The training case of a model fixture as packed rows. Two layouts that must give the same numbers: each completion with
// its own copy of the prompt, or both after one shared prompt. Trained tokens come completion by completion, as in
// python/golden/make_models.py.
import type { TrainingRow } from '#engine/training-engine';
import type { LossName, ModelFixture } from './fixture.ts';

export type Layout = 'a prompt per completion' | 'one shared prompt';
export const LAYOUTS: readonly Layout[] = ['a prompt per completion', 'one shared prompt'];

/** The `gaps` losses train on tokens without old log-probabilities. */
export function trainingRow(fixture: ModelFixture, layout: Layout, loss: LossName = 'cispo'): TrainingRow {
  const { expected, tensors } = fixture;
  const { prompt, completions, trained } = expected.training;
  const row = {
    tokens: [] as number[],
    positions: [] as number[],
    segments: [] as number[],
    parents: [] as number[],
    predictFrom: [] as number[],
    targets: [] as number[],
    sequenceIds: [] as number[],
  };
  const addSegment = (tokens: readonly number[], firstPosition: number, parent: number): number => {
    const segment = row.parents.push(parent) - 1;
    const start = row.tokens.length;
    tokens.forEach((token, i) => {
      row.tokens.push(token);
      row.positions.push(firstPosition + i);
      row.segments.push(segment);
    });
    return start;
  };
  if (layout === 'one shared prompt') addSegment(prompt, 0, -1);
  completions.forEach((completion, sequence) => {
    const copied = layout === 'a prompt per completion';
    const start = copied
      ? addSegment([...prompt, ...completion], 0, -1) + prompt.length
      : addSegment(completion, prompt.length, 0);
    const promptEnd = copied ? start - 1 : prompt.length - 1;
    completion.forEach((token, i) => {
      if (!trained[sequence]![i]) return;
      row.predictFrom.push(i === 0 ? promptEnd : start + i - 1);
      row.targets.push(token);
      row.sequenceIds.push(sequence);
    });
  });
  return {
    tokens: Int32Array.from(row.tokens),
    positions: Int32Array.from(row.positions),
    segments: Int32Array.from(row.segments),
    parents: Int32Array.from(row.parents),
    predictFrom: Int32Array.from(row.predictFrom),
    targets: Int32Array.from(row.targets),
    sequenceIds: Int32Array.from(row.sequenceIds),
    inputs: {
      oldLogprobs: tensors.get(`training.old_logprobs${loss.endsWith('_gaps') ? '_with_gaps' : ''}`)!,
      advantages: tensors.get('training.advantages')!,
      weights: tensors.get('training.weights')!,
    },
  };
}
