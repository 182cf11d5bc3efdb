// Training rows written field by field, for tests: several completions of one prompt, stored once.
import type { TrainingRow } from '#engine/training-engine';

export type RowFields = Readonly<Record<Exclude<keyof TrainingRow, 'inputs'>, number[]>>;

export const emptyFields = (): RowFields => ({
  tokens: [],
  positions: [],
  segments: [],
  parents: [],
  predictFrom: [],
  targets: [],
  sequenceIds: [],
});

/** Every trained token weighs the same. */
export function toRow(fields: RowFields, weight = 1): TrainingRow {
  const int32 = (name: keyof RowFields) => Int32Array.from(fields[name]);
  return {
    tokens: int32('tokens'),
    positions: int32('positions'),
    segments: int32('segments'),
    parents: int32('parents'),
    predictFrom: int32('predictFrom'),
    targets: int32('targets'),
    sequenceIds: int32('sequenceIds'),
    inputs: { weights: new Float32Array(fields.targets.length).fill(weight) },
  };
}

/** The prompt once, then every completion as a child of it; all completion tokens are trained. */
export function sharedPromptRow(
  prompt: readonly number[],
  completions: readonly (readonly number[])[],
  weight = 1,
): TrainingRow {
  const fields = emptyFields();
  fields.tokens.push(...prompt);
  fields.positions.push(...prompt.map((_, i) => i));
  fields.segments.push(...prompt.map(() => 0));
  fields.parents.push(-1);
  completions.forEach((completion, sequence) => {
    completion.forEach((token, i) => {
      fields.predictFrom.push(i === 0 ? prompt.length - 1 : fields.tokens.length - 1);
      fields.targets.push(token);
      fields.sequenceIds.push(sequence);
      fields.tokens.push(token);
      fields.positions.push(prompt.length + i);
      fields.segments.push(sequence + 1);
    });
    fields.parents.push(0);
  });
  return toRow(fields, weight);
}
