// Logging trajectories: their averages become metrics of a checkpoint (`split/reward`, …), the latest unless they name one, so that
// clean-up policies can tell which checkpoint is best. Trajectories that name an evaluation are rewards for its answers.
import { counted } from '#base/counted';
import { createYielder } from '#base/yield-to-loop';
import type { Clock } from '#base/clock';
import { logBlob } from '#domain/blob-names';
import type { Caller } from '#domain/caller';
import { mergedMetrics, type Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import { isEvaluated } from '#domain/evaluation';
import type { TrajectoryGroup } from '#domain/trajectory';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { groupMetrics } from '#training/rl-metrics';
import type { AccountLimits } from '../../accounts/account-limits.ts';
import { holdBlobs } from '../../accounts/stored-bytes.ts';
import { getOwnModel, unlessModelGone } from '../../models/own-model.ts';
import { createMetricNames } from '../data/metric-names.ts';
import { writeGroups } from '../data/stored-groups.ts';

export interface TrajectoriesToLog {
  readonly split: string;
  readonly groups: readonly TrajectoryGroup[];
  /** The step of the checkpoint they belong to; null: the evaluation's, otherwise the latest. */
  readonly step: number | null;
  /** The job whose evaluation answers they reward: one group per prompt, in order. Null: none. */
  readonly evaluationJobId: string | null;
}

export type LogTrajectories = (
  caller: Caller,
  modelId: string,
  logged: TrajectoriesToLog,
  id: string,
) => Promise<{ step: number; metrics: Record<string, number> }>;

export interface LogTrajectoriesDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly limits: Pick<AccountLimits, 'storing'>;
  readonly clock: Clock;
}

export function createLogTrajectories({ storage, blobs, limits, clock }: LogTrajectoriesDeps): LogTrajectories {
  return async (caller, modelId, { split, groups, step: asked, evaluationJobId }, id) => {
    await getOwnModel(storage, caller, modelId);
    const evaluated =
      evaluationJobId === null ? null : await getEvaluatedStep(storage, modelId, evaluationJobId, groups);
    if (asked !== null && evaluated !== null && asked !== evaluated)
      throw refusal(
        'step',
        `The evaluation of job ${evaluationJobId} is of step ${evaluated}, not ${asked}. Omit step.`,
      );
    const checkpoint = await getLoggedCheckpoint(storage, modelId, evaluated ?? asked);
    const blob = logBlob(modelId, id);
    const { metrics, sizeBytes } = await limits.storing(caller, async (bytes) => {
      const target = holdBlobs(blobs, bytes);
      await refuseManyMetrics(groups);
      const means = Object.entries(groupMetrics(groups)).map(([name, value]) => [`${split}/${name}`, value] as const);
      const metrics = Object.fromEntries(means);
      mergedMetrics(checkpoint.metrics, metrics); // refused before anything is stored
      const { sizeBytes } = await writeGroups(target, blob, { step: checkpoint.step, split }, groups);
      return { metrics, sizeBytes };
    });
    const log = {
      id,
      modelId,
      split,
      step: checkpoint.step,
      blob,
      groupCount: groups.length,
      trajectoryCount: groups.reduce((sum, { trajectories }) => sum + trajectories.length, 0),
      sizeBytes,
      createdAtMs: clock.now(),
      evaluationJobId,
    };
    await storage.trajectoryLogs.create(log).catch(async (cause: unknown) => {
      const error = await unlessModelGone(storage, modelId, cause);
      if (error instanceof AppError && error.code === 'model_not_found') await blobs.delete(blob);
      throw error;
    });
    await storage.checkpoints.mergeMetrics(checkpoint.id, metrics);
    return { step: checkpoint.step, metrics };
  };
}

async function getLoggedCheckpoint(
  { checkpoints }: Storage,
  modelId: string,
  step: number | null,
): Promise<Checkpoint> {
  const checkpoint = step === null ? await checkpoints.findLatest(modelId) : await checkpoints.find(modelId, step);
  if (checkpoint) return checkpoint;
  const which = step === null ? 'checkpoint' : `checkpoint of step ${step}`;
  throw new AppError('checkpoint_not_found', `Model ${modelId} has no ${which} that metrics can be attached to.`, {
    param: 'step',
  });
}

/** The checkpoint that answered. In a group with as many trajectories as its prompt has answers, they are matched in order. */
async function getEvaluatedStep(
  { jobs, evaluations }: Storage,
  modelId: string,
  jobId: string,
  groups: readonly TrajectoryGroup[],
): Promise<number> {
  const [job, evaluation] = [await jobs.find(jobId), await evaluations.find(jobId)];
  if (!job || job.modelId !== modelId || !evaluation) {
    throw new AppError('not_found', `Model ${modelId} has no evaluation of a job ${jobId}.`, {
      param: 'evaluation_job_id',
    });
  }
  const { status, promptCount, sampleCount, answeredCount } = evaluation;
  if (!isEvaluated(status) || job.step === null)
    throw refusal(
      'evaluation_job_id',
      `That evaluation is ${status}: ${answeredCount} of ${counted(promptCount, 'prompt')} answered.`,
    );
  if (groups.length !== promptCount)
    throw refusal(
      'trajectory_groups',
      `The evaluation has ${counted(promptCount, 'prompt')}: send a group for each, in order, not ${groups.length}.`,
    );
  const other = groups.findIndex(({ trajectories }) => ![0, sampleCount].includes(trajectories.length));
  if (other >= 0) {
    const what = `Group ${other} has ${counted(groups[other]!.trajectories.length, 'trajectory')}, and its prompt ${counted(sampleCount, 'answer')}`;
    throw refusal('trajectory_groups', `${what}: send one for each, in order, or none.`);
  }
  return job.step;
}

const refusal = (param: string, message: string): AppError => new AppError('invalid_request', message, { param });

/** Averaging more would block other requests for over a tenth of a second. */
const VALUES_MAX = 1_000_000;

async function refuseManyMetrics(groups: readonly TrajectoryGroup[]): Promise<void> {
  const yieldToLoop = createYielder();
  const names = createMetricNames();
  let values = 0;
  for (const group of groups) {
    values += names.add(group);
    if (values > VALUES_MAX) {
      const message = `More than ${VALUES_MAX} values of metrics in one request. Log fewer trajectories at once.`;
      throw new AppError('invalid_request', message);
    }
    await yieldToLoop();
  }
}
