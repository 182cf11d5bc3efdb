// What policies other than the one being trained say of a job's rows: the one the job started from, and the KL reference.
// Computed before the first gradient step, in sessions of their own; rl-job.ts hands them to the loss.
import type { TrainingRow, TrainingSession } from '#engine/training-engine';
import type { PackedRow } from './packing.ts';
import type { PolicyLossConfig } from './rl-config.ts';

/** `[row][trained]` log-probabilities, nats; null where the loss does not ask. */
export interface ComparisonPolicies {
  readonly start: readonly Float32Array[] | null;
  readonly reference: readonly Float32Array[] | null;
}

export const NO_COMPARISON_POLICIES: ComparisonPolicies = { start: null, reference: null };

export const asksComparisonPolicies = ({ precalculates, kl }: PolicyLossConfig): boolean =>
  precalculates || kl !== null;

/** Asks before each row whether to go on: rows may be many. Null: the answer was no. */
export async function computeLogprobs(
  session: TrainingSession,
  rows: readonly PackedRow[],
  goesOn: () => Promise<boolean>,
): Promise<Float32Array[] | null> {
  const logprobs: Float32Array[] = [];
  for (const { row } of rows) {
    if (!(await goesOn())) return null;
    logprobs.push(await session.logprobs(row));
  }
  return logprobs;
}

/** The row with the inputs that its loss reads (losses.ts). */
export function withComparisonPolicies(
  row: TrainingRow,
  index: number,
  { start, reference }: ComparisonPolicies,
): TrainingRow {
  const inputs = { ...row.inputs };
  if (start) Object.assign(inputs, { oldLogprobs: start[index]!, sampledLogprobs: row.inputs['oldLogprobs']! });
  if (reference) inputs['referenceLogprobs'] = reference[index]!;
  return { ...row, inputs };
}
