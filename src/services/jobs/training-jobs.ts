// Training jobs as their owners see them: submit, read, list, cancel, follow. job-runner.ts runs them.
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import { evaluationBlobs, jobBodyBlob } from '#domain/blob-names';
import type { Caller } from '#domain/caller';
import { AppError, type ErrorCode } from '#domain/errors';
import { type JobStatus, isFinished, type TrainingEvent, type TrainingJob } from '#domain/training-job';
import type { Model } from '#domain/model';
import type { EvaluationBody, RequestedEvaluation } from '#domain/evaluation';
import type { DpoConfigInput, DpoJobBody } from '#domain/dpo';
import type { SftConfigInput, SftJobBody } from '#domain/sft';
import type { KlReference, EpisodeJobBody, RlConfigInput, RlJobBody, TrajectoryGroup } from '#domain/trajectory';
import type { BlobStore } from '#storage/blobs';
import type { Listing, Order, Page } from '#domain/page';
import type { NewJob, JobFilter, Storage } from '#storage/storage';
import { withBoundedMetrics } from './data/metric-names.ts';
import { writeGroups, type RlJobHead } from './data/stored-groups.ts';
import type { JobObserver } from './attempt/job-attempt.ts';
import type { JobEvents } from './job-events.ts';
import type { NamedVersion } from '../artifacts/artifact-name.ts';
import type { AccountLimits } from '../accounts/account-limits.ts';
import type { Hold } from '../accounts/held-amounts.ts';
import { holdBlobs } from '../accounts/stored-bytes.ts';
import type { Artifacts } from '../artifacts/artifacts.ts';
import type { AcceptEvaluation } from '../evaluations/accept-evaluation.ts';
import { putEvaluationBody } from '../evaluations/stored-answers.ts';
import { getLatestCheckpoint, getNamedCheckpoint, getReferenceStep } from '../models/named-checkpoint.ts';
import { findRollouts } from '../episodes/episode-rollouts.ts';
import { getOwnModel, unlessModelGone } from '../models/own-model.ts';
import { sealJson } from './data/sealed-json.ts';
import { datasetFile } from './data/sft-dataset.ts';
import { describeJobs, type DescribedJob } from './describe-jobs.ts';
import { findUnfinished } from './unfinished-job.ts';

/** What a request for an RL job says beside its data. */
export interface RlRequest {
  readonly config: RlConfigInput;
  readonly evaluation: RequestedEvaluation | null;
}

/** The job may have been made. */
const UNCERTAIN: readonly ErrorCode[] = ['storage_unavailable', 'internal'];

export interface TrainingJobs {
  /** Throws what would refuse a job of the model with this request: `checkpoint_not_found`, `model_conflict`, `artifact_not_found`, `invalid_request`. */
  checkRl(caller: Caller, model: Model, request: RlRequest): Promise<void>;
  /** The job is durable when this resolves. Returns the existing job if one has the id. Throws `model_not_found`, `checkpoint_not_found` (all were deleted), `too_many_requests`. */
  submitRl(
    caller: Caller,
    body: RlJobBody | EpisodeJobBody,
    modelId: string,
    id: string,
    evaluation?: RequestedEvaluation | null,
  ): Promise<TrainingJob>;
  /** As submitRl; also throws `artifact_not_found`, or `invalid_request` if it contains no training data. */
  submitSft(caller: Caller, request: DatasetRequest<SftConfigInput>, id: string): Promise<TrainingJob>;
  /** As submitSft. */
  submitDpo(caller: Caller, request: DatasetRequest<DpoConfigInput>, id: string): Promise<TrainingJob>;
  /** Throws `job_not_found`, also for another entity's job. */
  get(caller: Caller, id: string): Promise<TrainingJob>;
  list(caller: Caller, filter: Omit<JobFilter, 'entity'>, page: Page, order: Order): Promise<Listing<TrainingJob>>;
  /** With the name of its model and the metrics of its checkpoint, for jobs of `get` and `list`. */
  describe(jobs: readonly TrainingJob[]): Promise<readonly DescribedJob[]>;
  /** Of all jobs that the filter finds with any status. */
  countByStatus(
    caller: Caller,
    filter: Omit<JobFilter, 'entity' | 'status'>,
  ): Promise<Readonly<Record<JobStatus, number>>>;
  /** Throws `job_not_found`, `job_finished`. */
  cancel(caller: Caller, id: string): Promise<void>;
  listEvents(caller: Caller, id: string, page: Page): Promise<Listing<TrainingEvent>>;
  /** The events after the cursor, then new ones as they are appended; ends after the closing event. */
  followEvents(caller: Caller, id: string, after: string | null, signal: AbortSignal): AsyncIterable<TrainingEvent>;
}

const NONE_OF_EACH: Readonly<Record<JobStatus, number>> = {
  queued: 0,
  running: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
};

/** The artifact of a job whose rows are in one. */
export interface DatasetRequest<Config> {
  readonly modelId: string;
  readonly data: NamedVersion;
  readonly config: Config;
  readonly warnings: readonly string[];
  readonly evaluation?: RequestedEvaluation | null;
}

export interface TrainingJobsDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly jobEvents: JobEvents;
  readonly clock: Clock;
  readonly log: Log;
  /** Each queued job keeps its body on disk; beyond this number, clients should wait. */
  readonly queuedJobsMax: number;
  /** Completes choices that came without their tokens or the ids of their prompt. */
  readonly recall: (groups: readonly TrajectoryGroup[], model: Model) => AsyncIterable<TrajectoryGroup>;
  readonly artifacts: Pick<Artifacts, 'get'>;
  readonly acceptEvaluation: AcceptEvaluation;
  readonly limits: Pick<AccountLimits, 'queueing' | 'storing'>;
  readonly observer: Pick<JobObserver, 'ended'>;
}

interface DatasetJobBodies {
  readonly sft: SftJobBody;
  readonly dpo: DpoJobBody;
}

const PAGE = 100;
/** How long a follower waits for a notification before it polls. */
const POLL_MS = 1_000;

const headOf = ({ config, warnings }: Pick<RlJobBody, 'config' | 'warnings'>): RlJobHead =>
  warnings.length > 0 ? { ...config, warnings } : config;

export function createTrainingJobs({
  storage,
  blobs,
  jobEvents,
  clock,
  log,
  queuedJobsMax,
  recall,
  artifacts,
  acceptEvaluation,
  limits,
  observer,
}: TrainingJobsDeps): TrainingJobs {
  async function get(caller: Caller, id: string): Promise<TrainingJob> {
    const job = await storage.jobs.find(id);
    if (job && job.entity === caller.entity) return job;
    throw new AppError('job_not_found', `No training job ${id}. List yours with GET /v1/preview/training-jobs.`);
  }

  /** Blobs that `write` stores, and the place in the queue, are reserved against the limits meanwhile. */
  async function create(
    {
      klReference,
      ...job
    }: Pick<NewJob, 'id' | 'type' | 'modelId' | 'episodes'> & { readonly klReference?: KlReference },
    caller: Caller,
    evaluated: EvaluationBody | undefined,
    write: (target: Pick<BlobStore, 'put'>, bodyBlob: string) => Promise<{ sizeBytes: number }>,
    about: Readonly<Record<string, unknown>>,
  ): Promise<TrainingJob> {
    const { entity, keyId } = caller;
    const bodyBlob = jobBodyBlob(job.id);
    /** Deletes what it has stored for a job that is not made. Another request for the same job may have made it. */
    async function discard(): Promise<void> {
      if (await storage.jobs.find(job.id)) return;
      for (const blob of [bodyBlob, evaluationBlobs(job.modelId, job.id)]) await blobs.delete(blob);
    }
    async function submit(place: Pick<Hold, 'settle'>): Promise<TrainingJob> {
      // The blob first, so that a row always finds its body.
      const { sizeBytes } = await limits.storing(caller, async (bytes) => {
        const target = holdBlobs(blobs, bytes);
        if (evaluated) await putEvaluationBody(target, { modelId: job.modelId, jobId: job.id }, evaluated);
        return write(target, bodyBlob);
      });
      const evaluation = evaluated && {
        promptCount: evaluated.prompts.length,
        sampleCount: evaluated.settings.samples,
      };
      const made = await place.settle(async () => {
        const value = await storage.jobs.create({
          ...job,
          bodyBlob,
          entity,
          keyId,
          createdAtMs: clock.now(),
          ...(klReference ? { klReference } : {}),
          ...(evaluation ? { evaluation } : {}),
        });
        return { value, amount: 1 };
      });
      log.info('job.submitted', {
        jobId: job.id,
        type: job.type,
        modelId: job.modelId,
        ...about,
        ...(evaluation ? { evaluation } : {}),
        bodyBytes: sizeBytes,
      });
      jobEvents.notify(null);
      return made;
    }
    return limits.queueing(caller, queuedJobsMax, (place) =>
      submit(place).catch(async (cause: unknown) => {
        const error = await unlessModelGone(storage, job.modelId, cause);
        const isRefused = error instanceof AppError && !UNCERTAIN.includes(error.code);
        if (isRefused) await discard().catch((err: unknown) => log.warn('job.not_discarded', { jobId: job.id, err }));
        throw error;
      }),
    );
  }

  /** A step that is not there may still be made by a job that is. */
  async function checkReference({ entity }: Caller, model: Model, { klReference }: RlConfigInput): Promise<void> {
    const { baseModel } = model;
    if (klReference && 'checkpointName' in klReference)
      await getNamedCheckpoint(storage, entity, klReference.checkpointName, {
        baseModel,
        param: 'kl_ref_adapter_path',
      });
    if (klReference && 'step' in klReference && !(await findUnfinished(storage, model)))
      await getReferenceStep(storage, model.id, klReference.step);
  }

  async function submitDataset<Type extends 'sft' | 'dpo'>(
    type: Type,
    caller: Caller,
    { modelId, data, config, warnings: ofRequest, evaluation = null }: DatasetRequest<DatasetJobBodies[Type]['config']>,
    id: string,
  ): Promise<TrainingJob> {
    const made = await storage.jobs.find(id);
    if (made) return made;
    await getOwnModel(storage, caller, modelId);
    await getLatestCheckpoint(storage, modelId);
    const { artifact } = await artifacts.get(caller, data);
    const { entity, project, name, version } = artifact;
    const dataset = { entity, project, name, version, path: datasetFile(artifact) };
    const accepted = evaluation ? await acceptEvaluation(caller, evaluation) : null;
    const warnings = [...ofRequest, ...(accepted?.warnings ?? [])];
    const body = { dataset, config, ...(warnings.length > 0 ? { warnings } : {}) };
    return create(
      { id, type, modelId },
      caller,
      accepted?.body,
      (target, bodyBlob) => target.put(bodyBlob, sealJson(body satisfies SftJobBody | DpoJobBody)),
      { dataset: `${project}/${name}:v${version}` },
    );
  }

  async function listEvents(caller: Caller, id: string, page: Page): Promise<Listing<TrainingEvent>> {
    await get(caller, id);
    return storage.events.list(id, page);
  }

  return {
    async checkRl(caller, model, { config, evaluation }) {
      await checkReference(caller, model, config);
      if (evaluation) await acceptEvaluation(caller, evaluation);
    },

    async submitRl(caller, body, modelId, id, evaluation = null) {
      const made = await storage.jobs.find(id);
      if (made) return made;
      const model = await getOwnModel(storage, caller, modelId);
      await getLatestCheckpoint(storage, modelId);
      await checkReference(caller, model, body.config);
      const { klReference } = body.config;
      const rollouts =
        'episodeGroups' in body ? await findRollouts(storage.episodes, caller, model, body.episodeGroups) : null;
      const accepted = evaluation ? await acceptEvaluation(caller, evaluation) : null;
      const warnings = [...body.warnings, ...(rollouts?.warnings ?? []), ...(accepted?.warnings ?? [])];
      const groups = withBoundedMetrics('groups' in body ? recall(body.groups, model) : rollouts!.groups());
      return create(
        {
          ...{ id, type: 'rl', modelId },
          ...(rollouts ? { episodes: rollouts.episodes } : {}),
          ...(klReference ? { klReference } : {}),
        },
        caller,
        accepted?.body,
        (target, bodyBlob) => writeGroups(target, bodyBlob, headOf({ config: body.config, warnings }), groups),
        { groups: 'groups' in body ? body.groups.length : body.episodeGroups.length },
      );
    },

    submitSft: (caller, request, id) => submitDataset('sft', caller, request, id),
    submitDpo: (caller, request, id) => submitDataset('dpo', caller, request, id),

    get,

    list: (caller, filter, page, order) => storage.jobs.list({ ...filter, entity: caller.entity }, page, order),

    describe: (jobs) => describeJobs(storage, jobs),

    countByStatus: async (caller, filter) => ({
      ...NONE_OF_EACH,
      ...(await storage.jobs.countByStatus({ ...filter, entity: caller.entity })),
    }),

    async cancel(caller, id) {
      const job = await get(caller, id);
      const nowMs = clock.now();
      const closing = {
        id: createId(),
        jobId: id,
        ordinal: await storage.events.count(id),
        type: 'training_failed' as const,
        data: { error_message: 'cancelled' },
        createdAtMs: nowMs,
      };
      const outcome = await storage.jobs.requestCancel(id, nowMs, closing);
      log.info('job.cancel_requested', { jobId: id, outcome });
      if (outcome === 'cancelled') observer.ended(job, outcome);
      jobEvents.notify(id);
      if (outcome === 'already_finished')
        throw new AppError('job_finished', `Training job ${id} has finished already.`);
    },

    listEvents,

    async *followEvents(caller, id, after, signal) {
      let cursor = after;
      while (!signal.aborted) {
        const finished = isFinished((await get(caller, id)).status); // read before the page: nothing follows the last page of a finished job
        const { rows, hasMore } = await listEvents(caller, id, { after: cursor, limit: PAGE });
        for (const event of rows) {
          cursor = event.id;
          yield event;
        }
        if (hasMore) continue;
        if (finished) return;
        if (rows.length === 0) await jobEvents.wait(id, POLL_MS, signal);
      }
    },
  };
}
