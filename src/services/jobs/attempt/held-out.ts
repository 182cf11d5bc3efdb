// Evaluates held-out rows while a job trains, as often as its settings say, so that it can stop early and keep the best weights. The best
// weights are a saved state of the job's progress (job-progress.ts), so that an attempt that continues the job makes the same checkpoint
// from them. training/early-stopping.ts decides which evaluation is best.
import { AppError } from '#domain/errors';
import { progressStateBlob } from '#domain/blob-names';
import type { TrainingSession } from '#engine/training-engine';
import type { BlobStore } from '#storage/blobs';
import {
  describeStop,
  isEvaluated,
  isStopped,
  judge,
  NOTHING_EVALUATED,
  type EvaluationSchedule,
  type Standing,
} from '#training/early-stopping';
import { finiteOnly, type StepMetrics } from '#training/step-metrics';

export interface HeldOutRows {
  readonly schedule: EvaluationSchedule;
  /** Metrics are named `val/NAME`. Calls `goesOn` before each call of the session; returns null if it returned false. */
  evaluate(session: TrainingSession, goesOn: () => Promise<boolean>): Promise<StepMetrics | null>;
}

/** The held-out rows of one attempt at a job. */
export interface HeldOutWatch {
  /** Null: nothing is evaluated. */
  readonly standing: Standing | null;
  /** The step's metrics, with those of its evaluation if it has one. Null: `goesOn` returned false. Throws `engine_failed` if log-probabilities are not finite. */
  measured(
    session: TrainingSession,
    step: number,
    metrics: StepMetrics,
    goesOn: () => Promise<boolean>,
  ): Promise<StepMetrics | null>;
  /** Training ends after the latest evaluation. */
  readonly stops: boolean;
  /** The step whose weights must be kept; null: only those of the last step count. */
  readonly keptStep: number | null;
  /** The step whose weights the checkpoint gets instead of `last`'s, if any. */
  instead(last: number): Standing['best'];
  /** Fields of the last event. */
  closingFields(last: number): Readonly<Record<string, string | number>>;
}

/** `standing`: from the saved progress that the attempt continues; null: the job starts. */
export function watchHeldOut(rows: HeldOutRows | null, steps: number, standing: Standing | null): HeldOutWatch {
  let now = standing ?? NOTHING_EVALUATED;
  const loadsBest = rows?.schedule.loadsBest ?? false;
  return {
    get standing() {
      return rows && now;
    },
    async measured(session, step, metrics, goesOn) {
      if (!rows || !isEvaluated(rows.schedule, step, steps)) return metrics;
      const measured = await rows.evaluate(session, goesOn);
      if (!measured) return null;
      if (!Number.isFinite(measured['val/loss'])) throw notFinite(step, metrics['learning_rate']);
      const all = { ...metrics, ...finiteOnly(measured) };
      now = judge(rows.schedule, now, step, all);
      return all;
    },
    get stops() {
      return rows !== null && isStopped(rows.schedule, now);
    },
    get keptStep() {
      return loadsBest ? (now.best?.step ?? null) : null;
    },
    instead: (last) => (loadsBest && now.best?.step !== last ? now.best : null),
    closingFields: (last) => ({
      ...(now.best ? { best_gradient_step: now.best.step } : {}),
      ...(rows && last < steps ? { stopped_early: describeStop(rows.schedule, now) } : {}),
    }),
  };
}

const notFinite = (step: number, learningRate: number | undefined) =>
  new AppError(
    'engine_failed',
    `After gradient step ${step} the model's log-probabilities of held-out rows are not finite: the learning rate ${learningRate} is far too large. No checkpoint was made.`,
  );

/** The checkpoint files of the job's best state. Throws `damaged_data`. */
export async function copyState(
  blobs: BlobStore,
  jobId: string,
  step: number,
  blobPrefix: string,
): Promise<{ sizeBytes: number }> {
  const directory = await blobs.findDirectory(progressStateBlob(jobId, step));
  if (directory !== null) return blobs.putDirectory(blobPrefix, directory);
  throw new AppError(
    'damaged_data',
    `The best state of this job, of gradient step ${step}, is gone from the blob store.`,
  );
}
