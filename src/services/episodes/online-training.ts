// Online training as the owner of a model sees it: set, read, end. online-trainer.ts makes its jobs.
import { counted } from '#base/counted';
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { Caller } from '#domain/caller';
import type { EpisodeGroup } from '#domain/episode';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import type { NewOnlineTraining, OnlineTraining } from '#domain/online-training';
import type { TrainingJob } from '#domain/training-job';
import type { GroupState } from '#storage/episode-store';
import type { Storage } from '#storage/storage';
import { getLatestCheckpoint, getReferenceStep } from '../models/named-checkpoint.ts';
import { getOwnModel } from '../models/own-model.ts';
import type { TrainingJobs } from '../jobs/training-jobs.ts';
import { findUnfinished } from '../jobs/unfinished-job.ts';
import { groupsThat } from './complete-group.ts';

/** What the next step waits for. */
export interface OnlineProgress {
  readonly training: OnlineTraining;
  /** Of the model's latest checkpoint. */
  readonly step: number;
  /** A job of the model that has not ended, whoever submitted it. */
  readonly runningJob: TrainingJob | null;
  /** At most as many as a step needs. */
  readonly completeGroups: number;
  /** The oldest groups that are not complete. */
  readonly openGroups: readonly EpisodeGroup[];
  /** The oldest that would be complete if their episodes were not too old. */
  readonly staleGroups: readonly EpisodeGroup[];
  /** A sentence. */
  readonly waitingFor: string;
}

/** All throw `model_not_found`, also for another entity's model. */
export interface OnlineTrainings {
  /** Begins it, or goes on with other settings. Throws what would refuse its jobs, and `invalid_request` if the step is reached already. */
  put(caller: Caller, asked: Omit<NewOnlineTraining, 'entity' | 'keyId'>): Promise<OnlineProgress>;
  /** Throws `not_found` where the model has none, as `delete` does. */
  get(caller: Caller, modelId: string): Promise<OnlineProgress>;
  has(model: Model): Promise<boolean>;
  /** A job that it has made runs on. */
  delete(caller: Caller, modelId: string): Promise<void>;
}

export interface OnlineTrainingsDeps {
  readonly storage: Storage;
  readonly trainingJobs: Pick<TrainingJobs, 'checkRl'>;
  /** Looks at once whether a job can be made. */
  readonly wake: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

const GROUPS_SHOWN = 20;
/** The start of a job is among its first events. */
const EVENTS_READ = 10;

export function createOnlineTrainings({
  storage,
  trainingJobs,
  wake,
  clock,
  log,
}: OnlineTrainingsDeps): OnlineTrainings {
  async function find(caller: Caller, modelId: string): Promise<OnlineTraining> {
    await getOwnModel(storage, caller, modelId);
    const training = await storage.onlineTraining.find(modelId);
    if (training) return training;
    const message = `Model ${modelId} is not trained online. Begin with PUT /v1/preview/models/${modelId}/online-training.`;
    throw new AppError('not_found', message);
  }

  async function progressOf(stored: OnlineTraining): Promise<OnlineProgress> {
    const { modelId, entity, groupsPerStep, untilStep } = stored;
    const { step } = await getLatestCheckpoint(storage, modelId);
    const isReached = stored.status === 'active' && untilStep !== null && step >= untilStep; // the trainer is about to note it
    const training: OnlineTraining = isReached ? { ...stored, status: 'reached' } : stored;
    const groups = (state: GroupState, limit: number) =>
      storage.episodes.groups(modelId, limit, groupsThat(state, training, step));
    const completeGroups = (await groups('complete', groupsPerStep)).length;
    const openGroups = await groups('incomplete', GROUPS_SHOWN);
    const staleGroups = await groups('stale', GROUPS_SHOWN);
    const runningJob = await findUnfinished(storage, { id: modelId, entity });
    const isIdle = await trainedNothing(stored);
    const waitingFor = describeWait(training, { step, runningJob, completeGroups, staleGroups, isIdle });
    return { training, step, runningJob, completeGroups, openGroups, staleGroups, waitingFor };
  }

  /** Whether the last job, whose step is there, had no gradient step: its owner reads what the next step waits for, and no event. */
  async function trainedNothing({ lastJobId }: OnlineTraining): Promise<boolean> {
    if (lastJobId === null) return false;
    const events = await storage.events.first(lastJobId, EVENTS_READ);
    return events.find(({ type }) => type === 'training_started')?.data['num_gradient_steps'] === 0;
  }

  return {
    async put(caller, asked) {
      const { modelId, untilStep, job } = asked;
      const model = await getOwnModel(storage, caller, modelId);
      const { step } = await getLatestCheckpoint(storage, modelId);
      await trainingJobs.checkRl(caller, model, job);
      // Its first job starts at the latest step: a reference that is not there yet will not be.
      const { klReference } = job.config;
      if (klReference && 'step' in klReference) await getReferenceStep(storage, modelId, klReference.step);
      if (untilStep !== null && untilStep <= step) {
        const message = `until_step is ${untilStep}, and the model has step ${step} already. Name a later step, or leave it out.`;
        throw new AppError('invalid_request', message, { param: 'until_step' });
      }
      const { entity, keyId } = caller;
      const training = await storage.onlineTraining.put({ ...asked, entity, keyId }, clock.now());
      log.info('online_training.set', { modelId, groupsPerStep: asked.groupsPerStep });
      wake();
      return progressOf(training);
    },

    get: async (caller, modelId) => progressOf(await find(caller, modelId)),
    has: async ({ id }) => (await storage.onlineTraining.find(id)) !== null,

    async delete(caller, modelId) {
      await find(caller, modelId);
      await storage.onlineTraining.delete(modelId);
      log.info('online_training.ended', { modelId });
    },
  };
}

function describeWait(
  { status, pausedBy, lastProblem, lastJobId, groupsPerStep, groupSizeMin, maxStaleness, untilStep }: OnlineTraining,
  {
    step,
    runningJob,
    completeGroups,
    staleGroups,
    isIdle,
  }: Pick<OnlineProgress, 'step' | 'runningJob' | 'completeGroups' | 'staleGroups'> & { readonly isIdle: boolean },
): string {
  if (status === 'paused') return `Paused: ${pausedBy} Set it again to go on.`;
  if (status === 'reached') return `The model has step ${untilStep}: nothing more is trained.`;
  if (runningJob) return `Training job ${runningJob.id} is ${runningJob.status}: it makes the next step.`;
  if (lastProblem !== null) return `The next job could not be made, and is tried again: ${lastProblem}`;
  const missing = groupsPerStep - completeGroups;
  if (missing <= 0) return `Step ${step + 1} has all of ${counted(groupsPerStep, 'group')}: its job is being made.`;
  const idle = isIdle ? ` Its last job ${lastJobId} trained nothing: the warnings of that job say why.` : '';
  const stale =
    staleGroups.length === 0
      ? ''
      : ` ${staleGroups.length < GROUPS_SHOWN ? '' : 'At least '}${counted(staleGroups.length, 'group')} with enough rewards will not be trained: episodes that were sampled more than ${counted(maxStaleness ?? 0, 'step')} before step ${step} do not count (max_staleness).`;
  return `Step ${step + 1} has ${completeGroups} of ${counted(groupsPerStep, 'complete group')}. A group is complete with ${counted(groupSizeMin, 'rewarded episode')} or more, no open one, and a call that is trained.${stale}${idle}`;
}
