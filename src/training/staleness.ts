// How much older than a job the policy is that sampled its tokens: the step that the job starts from, minus the step that sampled them.
// Only steps count, not how far the weights moved between them; that is sampler-mismatch.ts's.
import type { StepMetrics } from './step-metrics.ts';
import { trainedCount, type TokenSequence, type TrainedRun } from './token-sequence.ts';

/** Over the trained tokens whose step is known. */
export interface Staleness {
  readonly mean: number;
  readonly max: number;
}

/** Null: the step is not known, or the job does not build on it. */
export const stalenessOf = ({ policyStep }: Pick<TrainedRun, 'policyStep'>, startStep: number): number | null =>
  policyStep === null || policyStep > startStep ? null : startStep - policyStep;

/** Null: no step is known. */
export function meanStaleness(sequences: readonly TokenSequence[], startStep: number): Staleness | null {
  let [tokens, sum, max] = [0, 0, 0];
  for (const run of sequences.flatMap(({ runs = [] }) => runs)) {
    const staleness = stalenessOf(run, startStep);
    if (staleness === null) continue;
    tokens += run.length;
    sum += staleness * run.length;
    max = Math.max(max, staleness);
  }
  return tokens === 0 ? null : { mean: sum / tokens, max };
}

export const stalenessMetrics = (staleness: Staleness | null): StepMetrics =>
  staleness ? { staleness_mean: staleness.mean, staleness_max: staleness.max } : {};

/** For each trained token of a row; NaN: not known. */
export function tokenStaleness(members: readonly TokenSequence[], startStep: number): Float32Array {
  return Float32Array.from(
    members.flatMap((member) =>
      (member.runs ?? [{ length: trainedCount(member), policyStep: null }]).flatMap((run) =>
        new Array<number>(run.length).fill(stalenessOf(run, startStep) ?? NaN),
      ),
    ),
  );
}
