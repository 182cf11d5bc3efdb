// Held-out rows of a job while it trains: measured as often as its settings say, so that it can end when they get no better and keep
// the weights that were the best. The best weights are a saved state of the job's progress (job-progress.ts): whoever goes on with the
// job finds them there, and makes the same checkpoint of them. Which evaluation is the best is training/early-stopping.ts.
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
  /** Metrics as `val/NAME`. Asks before each row whether to go on; null: the answer was no. */
  evaluate(session: TrainingSession, goesOn: () => Promise<boolean>): Promise<StepMetrics | null>;
}

/** Of one attempt at a job. */
export interface HeldOutWatch {
  /** Null: nothing is evaluated. */
  readonly standing: Standing | null;
  /** The step's metrics, with those of its evaluation where it has one. Null: `goesOn` said no. Throws `engine_failed` where the model computes no numbers. */
  measured(
    session: TrainingSession,
    step: number,
    metrics: StepMetrics,
    goesOn: () => Promise<boolean>,
  ): Promise<StepMetrics | null>;
  /** Training ends after what was measured last. */
  readonly stops: boolean;
  /** The step whose weights are to be kept; null: only the last one's count. */
  readonly keptStep: number | null;
  /** Where the checkpoint is not to have the weights of the last step, `last`: those that it has. */
  instead(last: number): Standing['best'];
  /** For the last event. */
  told(last: number): Readonly<Record<string, string | number>>;
}

/** `standing`: of the progress that an attempt goes on from; null: it begins. */
export function watchHeldOut(rows: HeldOutRows | null, steps: number, standing: Standing | null): HeldOutWatch {
  let now = standing ?? NOTHING_EVALUATED;
  const loadsBest = rows?.schedule.loadsBest ?? false;
  return {
    get standing() {
      return rows && now;
    },
    async measured(session, step, metrics, goesOn) {
      if (!rows || !isEvaluated(rows.schedule, step, steps)) return metrics;
      const held = await rows.evaluate(session, goesOn);
      if (!held) return null;
      if (!Number.isFinite(held['val/loss'])) throw notFinite(step, metrics['learning_rate']);
      const all = { ...metrics, ...finiteOnly(held) };
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
    told: (last) => ({
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

/** Of the job's best state: the files of its checkpoint. Throws `damaged_data`. */
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
