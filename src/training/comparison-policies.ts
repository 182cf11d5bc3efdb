// Log-probabilities of a job's rows under policies other than the one being trained: the job's starting policy, and the KL reference.
// Computed before the first gradient step, in separate sessions; rl-job.ts passes them to the loss.
import type { TrainingRow, TrainingSession } from '#engine/training-engine';
import type { PackedRow } from './packing.ts';
import type { PolicyLossConfig } from './rl-config.ts';
import { sideBySide } from './side-by-side.ts';

/** `[row][trained]` log-probabilities, nats; null if the loss does not need them. */
export interface ComparisonPolicies {
  readonly start: readonly Float32Array[] | null;
  readonly reference: readonly Float32Array[] | null;
}

export const NO_COMPARISON_POLICIES: ComparisonPolicies = { start: null, reference: null };

export const asksComparisonPolicies = ({ precalculates, kl }: PolicyLossConfig): boolean =>
  precalculates || kl !== null;

/** Calls `goesOn` before each call of the session, since there may be many rows. Null: it returned false. */
export async function computeLogprobs(
  session: TrainingSession,
  rows: readonly PackedRow[],
  goesOn: () => Promise<boolean>,
): Promise<Float32Array[] | null> {
  const logprobs: Float32Array[] = [];
  for await (const group of sideBySide(rows, session)) {
    if (!(await goesOn())) return null;
    logprobs.push(...(await session.logprobs(group.map(({ row }) => row))));
  }
  return logprobs;
}

/** The row with the inputs of its loss (losses.ts). */
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
