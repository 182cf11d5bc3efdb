// What a job received and what it trains with, for its owner. The data comes from the stored body, read as far as needed; group-pages.ts
// makes pages of it.
import { jobRecordBlob } from '#domain/blob-names';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Listing, Page } from '#domain/page';
import type { DpoJobBody } from '#domain/dpo';
import type { DatasetVersion, SftJobBody } from '#domain/sft';
import { isFinished, type TrainingJob } from '#domain/training-job';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { tokenTexts } from '#text/detokenizer';
import { resolveDpoConfig } from '#training/dpo-config';
import { resolveRlConfig } from '#training/rl-config';
import { resolveSftConfig } from '#training/sft-config';
import type { BaseModel, BaseModels } from '../../models/base-models.ts';
import { findCheckpointLora } from '../../models/checkpoint-lora.ts';
import {
  getGroup,
  listGroups,
  listTrajectories,
  streamTrajectories,
  type GroupSource,
  type GroupSummary,
  type PlacedTrajectory,
  type ReadTrajectory,
} from './group-pages.ts';
import { resolvedDpo, resolvedRl, resolvedSft, type ResolvedConfig } from '../data/resolved-config.ts';
import { parseSealedJson } from '../data/sealed-json.ts';
import type { RlJobHead } from '../data/stored-groups.ts';
import { readStoredPieces } from '../data/stored-pieces.ts';
import { readReasons, readTraining, type TrajectoryReasons, type TrajectoryTraining } from './token-training.ts';
import { streamSummaries, type TrajectorySummary } from './trajectory-summaries.ts';

export interface JobInputs {
  /** Throws `job_not_found`, as all of these do for another entity's job; `not_found` if its data has been deleted. */
  config(caller: Caller, id: string): Promise<JobConfig>;
  /** Warnings about the request and its data, from the first and the last event. */
  warnings(caller: Caller, id: string): Promise<readonly string[]>;
  /** Throws `not_found` also for an SFT or DPO job, whose rows are in an artifact. */
  listGroups(caller: Caller, id: string, page: Page): Promise<Listing<JobGroup>>;
  getGroup(caller: Caller, id: string, index: number): Promise<JobGroup>;
  listTrajectories(caller: Caller, id: string, group: number, page: Page): Promise<Listing<ReadTrajectory>>;
  /** With the token record of training; pages have fewer items if they have many tokens. */
  listTokens(caller: Caller, id: string, group: number, page: Page): Promise<Listing<TrainedTrajectory>>;
  /** All groups, or with `search` those that contain it. Errors are thrown before the first group. */
  streamTrajectories(caller: Caller, id: string, search: string | null): Promise<AsyncIterable<PlacedTrajectory>>;
  /** The same as one-line summaries. */
  streamSummaries(caller: Caller, id: string, search: string | null): Promise<AsyncIterable<JobTrajectorySummary>>;
}

export interface JobGroup {
  readonly summary: GroupSummary;
  /** Trajectories that were not or only partly trained, by reason. Null: the job has not ended, or has no record. */
  readonly skipped: Readonly<Record<string, number>> | null;
}

export interface TrainedTrajectory extends ReadTrajectory {
  /** Null: it applies to the whole group. */
  readonly training: TrajectoryTraining | null;
  /** The text of consecutive tokens; null: this server does not host the base model. */
  readonly textsOf: ((tokens: Int32Array) => string[]) | null;
}

export interface JobTrajectorySummary extends TrajectorySummary {
  /** Null: the job has not ended, or has no record. `reason`: `truncated`, or why nothing of it was trained; null: all was. */
  readonly outcome: { readonly reason: string | null } | null;
}

export interface JobConfig {
  readonly job: TrainingJob;
  readonly config: ResolvedConfig;
  /** False: the job has not begun, or an older version began it; these are the defaults it would use now. */
  readonly isAsTrained: boolean;
  /** The artifact of an SFT or DPO job; null: the job has its own groups. */
  readonly dataset: DatasetVersion | null;
}

export interface JobInputsDeps {
  readonly storage: Pick<Storage, 'checkpoints' | 'events' | 'models'>;
  readonly blobs: Pick<BlobStore, 'find' | 'stream'>;
  readonly baseModels: Pick<BaseModels, 'find'>;
  readonly getJob: (caller: Caller, id: string) => Promise<TrainingJob>;
}

export function createJobInputs({ storage, blobs, baseModels, getJob }: JobInputsDeps): JobInputs {
  async function open(job: TrainingJob): Promise<AsyncIterable<Uint8Array>> {
    const content = job.bodyBlob === '' ? null : await blobs.stream(job.bodyBlob);
    if (content) return content;
    throw gone(job);
  }

  async function readHead(job: TrainingJob): Promise<RlJobHead> {
    const wanted = { group: () => false, trajectory: () => false };
    for await (const piece of readStoredPieces(await open(job), job.bodyBlob, wanted)) {
      if (piece.kind === 'head') return JSON.parse(piece.bytes.toString('utf8')) as RlJobHead;
    }
    throw gone(job);
  }

  async function readBody<Body extends SftJobBody | DpoJobBody>(job: TrainingJob): Promise<Body> {
    const body = await blobs.find(job.bodyBlob);
    if (!body) throw gone(job);
    const opened = parseSealedJson<Body>(body);
    if (!opened) throw new AppError('damaged_data', 'The stored request of this job is damaged. Submit it again.');
    return opened.value;
  }

  async function source(caller: Caller, id: string): Promise<GroupSource> {
    const job = await getJob(caller, id);
    if (job.type !== 'rl') {
      const message = `Training job ${id} has no groups: ${job.type.toUpperCase()} jobs have their rows in an artifact, which the job's config names.`;
      throw new AppError('not_found', message);
    }
    const { scaleRewards } = resolveRlConfig(await readHead(job));
    return { name: job.bodyBlob, content: await open(job), scaleRewards };
  }

  return {
    async config(caller, id) {
      const job = await getJob(caller, id);
      const rows = await storage.events.first(id, 1);
      const trained = rows[0]?.data['config'] as ResolvedConfig | undefined;
      const isAsTrained = trained !== undefined;
      if (job.type === 'sft') {
        const { dataset, config } = await readBody<SftJobBody>(job);
        const resolve = async () => resolvedSft(resolveSftConfig(config, await findHiddenSize(job)));
        return { job, config: trained ?? (await withLora(job, await resolve())), isAsTrained, dataset };
      }
      if (job.type === 'dpo') {
        const { dataset, config } = await readBody<DpoJobBody>(job);
        const resolve = async () => resolvedDpo(resolveDpoConfig(config, await findHiddenSize(job)));
        return { job, config: trained ?? (await withLora(job, await resolve())), isAsTrained, dataset };
      }
      const config = trained ?? (await resolveStored(job));
      return { job, config, isAsTrained, dataset: null };
    },
    async warnings(caller, id) {
      const job = await getJob(caller, id);
      const rows = await storage.events.first(id, 1);
      const last = isFinished(job.status) ? await storage.events.findLatest(id) : null;
      const warnings = [...rows, ...(last ? [last] : [])].flatMap(({ data }) => (data['warnings'] ?? []) as string[]);
      return [...new Set(warnings)];
    },
    async listGroups(caller, id, page) {
      const { rows, hasMore } = await listGroups(await source(caller, id), page);
      const reasons = await findReasons(id);
      return { rows: rows.map((summary) => withSkipped(summary, reasons)), hasMore };
    },
    async getGroup(caller, id, index) {
      const summary = await getGroup(await source(caller, id), index);
      return withSkipped(summary, await findReasons(id));
    },
    async listTokens(caller, id, group, page) {
      const { rows, hasMore } = await listTrajectories(await source(caller, id), group, page);
      const textsOf = await findTexts(await getJob(caller, id));
      const record = await blobs.stream(jobRecordBlob(id));
      if (!record) return { rows: rows.map((row) => ({ ...row, training: null, textsOf })), hasMore };
      const indexes = rows.map(({ index }) => index);
      const read = await readTraining(record, jobRecordBlob(id), group, indexes);
      const trained = read.map((training, i) => ({ ...rows[i]!, training, textsOf }));
      return { rows: trained, hasMore: hasMore || trained.length < rows.length };
    },
    listTrajectories: async (caller, id, group, page) => listTrajectories(await source(caller, id), group, page),
    streamTrajectories: async (caller, id, search) => streamTrajectories(await source(caller, id), search),
    async streamSummaries(caller, id, search) {
      const summaries = streamSummaries(await source(caller, id), search);
      return withReasons(summaries, await findReasons(id));
    },
  };

  async function findReasons(id: string): Promise<TrajectoryReasons | null> {
    const record = await blobs.stream(jobRecordBlob(id));
    return record && readReasons(record, jobRecordBlob(id));
  }

  async function findBase({ modelId }: TrainingJob): Promise<BaseModel | null> {
    const model = await storage.models.find(modelId);
    return model && baseModels.find(model.baseModel);
  }

  async function findHiddenSize(job: TrainingJob): Promise<number | null> {
    return (await findBase(job))?.hiddenSize ?? null;
  }

  async function findTexts(job: TrainingJob): Promise<TrainedTrajectory['textsOf']> {
    const tokenizer = (await findBase(job))?.text.tokenizer;
    return tokenizer ? (tokens) => tokenTexts(tokenizer, tokens) : null;
  }

  async function withLora({ modelId }: TrainingJob, config: ResolvedConfig): Promise<ResolvedConfig> {
    const latest = await storage.checkpoints.findLatest(modelId);
    return { ...config, lora: latest && (await findCheckpointLora(blobs, latest)) };
  }

  async function resolveStored(job: TrainingJob): Promise<ResolvedConfig> {
    const head = await readHead(job);
    const base = await findBase(job);
    const setting = base ? { hiddenSize: base.hiddenSize ?? null, ...base.capabilities } : {};
    return withLora(job, resolvedRl(resolveRlConfig(head, setting), head.klReference ?? null));
  }
}

function withSkipped(summary: GroupSummary, reasons: TrajectoryReasons | null): JobGroup {
  const skipped: Record<string, number> = {};
  for (const reason of reasons?.get(summary.index)?.values() ?? []) skipped[reason] = (skipped[reason] ?? 0) + 1;
  return { summary, skipped: reasons && skipped };
}

async function* withReasons(
  summaries: AsyncIterable<TrajectorySummary>,
  reasons: TrajectoryReasons | null,
): AsyncGenerator<JobTrajectorySummary> {
  for await (const each of summaries)
    yield { ...each, outcome: reasons && { reason: reasons.get(each.group)?.get(each.index) ?? null } };
}

const gone = ({ id }: TrainingJob): AppError =>
  new AppError('not_found', `The data of training job ${id} has been deleted.`);
