// Training jobs as their owners see them: submit, read, list, cancel, follow. Running them is job-runner.ts.
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import { isFinished, type JobStatus, type TrainingEvent, type TrainingJob } from '#domain/training-job';
import type { Model } from '#domain/model';
import type { SftConfigInput, SftJobBody } from '#domain/sft';
import type { RlJobBody } from '#domain/trajectory';
import type { BlobStore } from '#storage/blobs';
import type { Listing, Page } from '#domain/page';
import type { Storage } from '#storage/storage';
import { writeGroups } from './stored-groups.ts';
import type { JobObserver } from './job-attempt.ts';
import type { JobEvents } from './job-events.ts';
import type { NamedVersion } from './artifact-name.ts';
import type { AccountLimits } from './account-limits.ts';
import type { Artifacts } from './artifacts.ts';
import { getNamedCheckpoint } from './named-checkpoint.ts';
import { getOwnModel } from './own-model.ts';
import { sealJson } from './sealed-json.ts';
import { datasetFile } from './sft-dataset.ts';

export interface TrainingJobs {
  /** The job is durable when this resolves. One that has the id already is returned. Throws `model_not_found`, `too_many_requests`. */
  submitRl(caller: Caller, body: RlJobBody, modelId: string, id: string): Promise<TrainingJob>;
  /** As submitRl; also throws `artifact_not_found`, `invalid_request` where it holds no training data. */
  submitSft(caller: Caller, request: SftRequest, id: string): Promise<TrainingJob>;
  /** Throws `job_not_found`, also for another entity's. */
  get(caller: Caller, id: string): Promise<TrainingJob>;
  list(caller: Caller, filter: { modelId?: string; status?: JobStatus }, page: Page): Promise<Listing<TrainingJob>>;
  /** Throws `job_not_found`, `job_finished`. */
  cancel(caller: Caller, id: string): Promise<void>;
  listEvents(caller: Caller, id: string, page: Page): Promise<Listing<TrainingEvent>>;
  /** Those after the cursor, then new ones as they come; ends after the closing event. */
  followEvents(caller: Caller, id: string, after: string | null, signal: AbortSignal): AsyncIterable<TrainingEvent>;
}

export interface SftRequest {
  readonly modelId: string;
  readonly data: NamedVersion;
  readonly config: SftConfigInput;
}

export interface TrainingJobsDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly jobEvents: JobEvents;
  readonly clock: Clock;
  readonly log: Log;
  /** Each holds its body on disk; beyond this, clients should wait. */
  readonly queuedJobsMax: number;
  /** Completes Choices that came without their tokens. */
  readonly recall: (body: RlJobBody, model: Model) => RlJobBody;
  readonly artifacts: Pick<Artifacts, 'get'>;
  readonly limits: Pick<AccountLimits, 'checkQueuedJobs' | 'bytesLeft' | 'charge'>;
  readonly observer?: Pick<JobObserver, 'ended'>;
}

const PAGE = 100;
/** How long a follower trusts notifications before it looks for itself. */
const POLL_MS = 1_000;
const RETRY_AFTER_SECONDS = 10;

export const bodyBlobOf = (jobId: string): string => `jobs/${jobId}/body.jsonl`;

export function createTrainingJobs({
  storage,
  blobs,
  jobEvents,
  clock,
  log,
  queuedJobsMax,
  recall,
  artifacts,
  limits,
  observer,
}: TrainingJobsDeps): TrainingJobs {
  async function get(caller: Caller, id: string): Promise<TrainingJob> {
    const job = await storage.jobs.find(id);
    if (job && job.entity === caller.entity) return job;
    throw new AppError('job_not_found', `No training job ${id}. List yours with GET /v1/preview/training-jobs.`);
  }

  async function refuseCrowd(caller: Caller): Promise<void> {
    await limits.checkQueuedJobs(caller);
    await limits.bytesLeft(caller);
    if ((await storage.jobs.countQueued(null)) < queuedJobsMax) return;
    throw new AppError(
      'too_many_requests',
      `${queuedJobsMax} training jobs are queued already. Try again when some have finished.`,
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }

  async function create(
    job: Pick<TrainingJob, 'id' | 'type' | 'modelId' | 'bodyBlob'>,
    { entity, keyId }: Caller,
    sizeBytes: number,
    about: Readonly<Record<string, unknown>>,
  ): Promise<TrainingJob> {
    const made = await storage.jobs.create({ ...job, entity, keyId, createdAtMs: clock.now() });
    await limits.charge({ entity, keyId }, job.bodyBlob, sizeBytes);
    log.info('job.submitted', { jobId: job.id, type: job.type, modelId: job.modelId, ...about });
    jobEvents.notify(null);
    return made;
  }

  async function listEvents(caller: Caller, id: string, page: Page): Promise<Listing<TrainingEvent>> {
    await get(caller, id);
    return storage.events.list(id, page);
  }

  return {
    async submitRl(caller, body, modelId, id) {
      const made = await storage.jobs.find(id);
      if (made) return made;
      const model = await getOwnModel(storage, caller, modelId);
      const { klReference } = body.config;
      if (klReference && 'checkpointName' in klReference) {
        const expected = { baseModel: model.baseModel, param: 'kl_ref_adapter_path' };
        await getNamedCheckpoint(storage, caller.entity, klReference.checkpointName, expected);
      }
      await refuseCrowd(caller);
      const bodyBlob = bodyBlobOf(id);
      // The blob first: a row always finds its body.
      const complete = recall(body, model);
      const { sizeBytes } = await writeGroups(blobs, bodyBlob, complete.config, complete.groups);
      return create({ id, type: 'rl', modelId, bodyBlob }, caller, sizeBytes, {
        groups: body.groups.length,
        bodyBytes: sizeBytes,
      });
    },

    async submitSft(caller, { modelId, data, config }, id) {
      const made = await storage.jobs.find(id);
      if (made) return made;
      await getOwnModel(storage, caller, modelId);
      const { artifact } = await artifacts.get(caller, data);
      const { entity, project, name, version } = artifact;
      const dataset = { entity, project, name, version, path: datasetFile(artifact) };
      await refuseCrowd(caller);
      const bodyBlob = bodyBlobOf(id);
      const body: SftJobBody = { dataset, config };
      const { sizeBytes } = await blobs.put(bodyBlob, sealJson(body));
      return create({ id, type: 'sft', modelId, bodyBlob }, caller, sizeBytes, {
        dataset: `${project}/${name}:v${version}`,
      });
    },

    get,

    list: (caller, filter, page) => storage.jobs.list({ ...filter, entity: caller.entity }, page),

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
      if (outcome === 'cancelled') observer?.ended(job, outcome);
      jobEvents.notify(id);
      if (outcome === 'already_finished')
        throw new AppError('job_finished', `Training job ${id} has finished already.`);
    },

    listEvents,

    async *followEvents(caller, id, after, signal) {
      let cursor = after;
      while (!signal.aborted) {
        const finished = isFinished((await get(caller, id)).status); // before the page: nothing follows a finished job's page
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
