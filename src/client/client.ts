// A typed client for the training API that only uses fetch: the same file runs in Node, Bun, Deno and browsers. Names are those of the
// API. The command line uses it too. Chat requests and answers have the form of the openai package; any OpenAI client works as well.
import { follow, followEvents, waitForEvaluation, within, type FollowOptions, type WaitOptions } from './follow.ts';
import { parseAnswer, visible } from './answers.ts';
import { ApiError, createHttp, type ClientOptions, type FileContent } from './http.ts';
import { chunksOf } from './chunks.ts';
import { createEpisodeCalls } from './episodes.ts';
import { bestCheckpoint, type Evaluated } from './early-stopping.ts';
import { rewardAnswers, type AnswerReward } from './evaluation.ts';
import { segment, segments } from './paths.ts';
import { insist, type OnConnection } from './retry.ts';
import { createRunCalls } from './runs.ts';
import { readServerSentEvents } from './sse-reader.ts';
import { createUsageCalls } from './usage.ts';
import { createWebhookCalls } from './webhooks.ts';
import type {
  Checkpoint,
  LoraOptions,
  Model,
  ModelFilter,
  ModelLabels,
  ModelLabelsChange,
  ModelProject,
  ModelSummary,
  SavePolicy,
} from './model-wire.ts';
import type {
  AnsweredPrompt,
  Artifact,
  ArtifactManifest,
  ArtifactsWanted,
  ChatCompletion,
  ChatRequest,
  DpoJobRequest,
  Evaluation,
  ModelEvaluation,
  HistoryStep,
  JobConfig,
  JobGroup,
  LogRequest,
  RlJobRequest,
  SftJobRequest,
  TrainingEvent,
  TrainingJob,
  TrajectoryTokens,
  Worker,
} from './wire.ts';

export { TrainingFailedError, type FollowOptions, type TrainingProgress, type WaitOptions } from './follow.ts';
export { gather, type Gathered, type GatherOptions, type GatherProgress, type Rollout } from './gather.ts';
export { AnswerError } from './answers.ts';
export { ApiError, type ClientOptions } from './http.ts';
export {
  createEarlyStopping,
  type EarlyStopping,
  type EarlyStoppingOptions,
  type Evaluated,
} from './early-stopping.ts';
export type { Episode, EpisodeNamed, EpisodeOptions } from './episodes.ts';
export type { AnswerReward } from './evaluation.ts';
export type { OnConnection } from './retry.ts';
export type * from './runs.ts';
export type * from './usage.ts';
export type * from './webhooks.ts';
export type * from './episode-wire.ts';
export type * from './model-wire.ts';
export type * from './wire.ts';

export interface SubmitOptions {
  /** Repeated submissions with the same key return the same job. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

export interface TrainOptions extends FollowOptions, SubmitOptions {
  /** Called as soon as the job has an id. */
  readonly onSubmitted?: (job: { readonly id: string }) => void;
}

/** Of what a stream has besides the text of its answer. */
export interface ChatListeners {
  /** Pieces of what the model thinks, before its answer. */
  readonly onReasoning?: (piece: string) => void;
  /** Why the answer ended: `stop`, `length`, … */
  readonly onFinish?: (reason: string) => void;
}

export interface CheckpointDownload {
  readonly content: ReadableStream<Uint8Array>;
  readonly isRest: boolean;
  /** Size of the whole tar, to which the checksum also refers. */
  readonly sizeBytes: number;
  readonly sha256: string;
}

export type Client = ReturnType<typeof createClient>;

export function createClient(options: ClientOptions) {
  const http = createHttp(options);
  const { send, call, rows } = http;

  /** `entity/project/name[:version]` */
  const artifactPath = (name: string, path?: string) =>
    `/v1/artifacts/${segments(path === undefined ? name : `${name}/${path}`)}`;
  const jobPath = (id: string) => `/v1/preview/training-jobs/${segment(id)}`;
  const modelPath = (id: string) => `/v1/preview/models/${segment(id)}`;

  const submit =
    <T>(path: string) =>
    (body: T, { idempotencyKey, signal }: SubmitOptions = {}): Promise<{ id: string }> => {
      const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
      return call('POST', path, { body, headers, signal });
    };
  const submitTrainingJob = submit<RlJobRequest>('/v1/preview/training-jobs');
  const submitSftJob = submit<SftJobRequest>('/v1/preview/sft-training-jobs');
  const submitDpoJob = submit<DpoJobRequest>('/v1/preview/dpo-training-jobs');

  const followJobEvents = (jobId: string, signal: AbortSignal, onConnection?: OnConnection) => {
    const open = async (lastId: string | null) => {
      const headers = { accept: 'text/event-stream', ...(lastId === null ? {} : { 'last-event-id': lastId }) };
      return bodyOf((await send('GET', `${jobPath(jobId)}/events`, { headers, signal })).body);
    };
    return followEvents<TrainingEvent>(open, signal, onConnection);
  };

  function followJob(id: string, options: FollowOptions = {}): Promise<TrainingJob> {
    const signal = within(options);
    return follow(http, jobPath(id), followJobEvents(id, signal, options.onConnection), options, signal);
  }

  async function train(
    submitOnce: (once: SubmitOptions) => Promise<{ id: string }>,
    options: TrainOptions = {},
  ): Promise<TrainingJob> {
    const { onSubmitted, idempotencyKey = crypto.randomUUID(), ...following } = options;
    const signal = within(following);
    const submitted = await insist(() => submitOnce({ idempotencyKey, signal }), signal, following.onConnection);
    onSubmitted?.(submitted);
    return followJob(submitted.id, { ...following, signal });
  }

  const listCheckpoints = (modelId: string, { order = 'asc' }: { order?: 'asc' | 'desc' } = {}) =>
    rows<Checkpoint>(`${modelPath(modelId)}/checkpoints`, { order });

  return {
    registerModel: (model: {
      project: string;
      name: string;
      base_model: string;
      entity?: string | null;
      return_existing?: boolean;
      /** Fork: step 0 is a copy of this checkpoint, `entity/project/name@N`. */
      from_checkpoint?: string | null;
      lora?: LoraOptions | null;
      save_policy?: SavePolicy | null;
    }): Promise<Model> => call('POST', '/v1/preview/models', { body: { return_existing: true, ...model } }),
    getModel: (id: string): Promise<Model> => call('GET', modelPath(id)),
    /** Applies from the next checkpoint on. Null: all checkpoints are kept. */
    setSavePolicy: (id: string, policy: SavePolicy | null): Promise<Model> =>
      call('PUT', `${modelPath(id)}/save-policy`, { body: { save_policy: policy } }),
    /** Tags, a note, and whether the model is archived. */
    setModelLabels: (id: string, change: ModelLabelsChange): Promise<ModelLabels> =>
      call('PUT', `${modelPath(id)}/labels`, { body: change }),
    listModels: (filter: ModelFilter & { base_model?: string } = {}) => rows<Model>('/v1/preview/models', filter),
    /** Most recent activity first. `search`: text in `project/name`. */
    listModelSummaries: (filter: ModelFilter & { search?: string } = {}) =>
      rows<ModelSummary>('/v1/preview/model-summaries', filter),
    /** By name. */
    listModelProjects: () => rows<ModelProject>('/v1/preview/model-projects', {}),
    deleteModel: (id: string): Promise<{ model_id: string; deleted_checkpoints: number }> =>
      call('DELETE', modelPath(id)),
    listBaseModels: (): Promise<string[]> => call('GET', '/v1/preview/base-models'),
    /** The models that a chat request can name, or the steps of one. */
    async listCallableModels(stepsOf?: string): Promise<readonly { id: string; owned_by: string }[]> {
      const lines: { id: string; owned_by: string }[] = [];
      for await (const line of rows<{ id: string; owned_by: string }>('/v1/models', { steps_of: stepsOf }))
        lines.push(line);
      return lines;
    },

    /** Engines on other machines that are connected to this server. */
    listWorkers: async (): Promise<readonly Worker[]> =>
      (await call<{ data: readonly Worker[] }>('GET', '/v1/workers')).data,

    submitTrainingJob,
    submitSftJob,
    submitDpoJob,
    /** Submits a job with groups or examples, and follows it: resolves when the new checkpoint can be called. */
    train: (job: RlJobRequest | SftJobRequest, options?: TrainOptions): Promise<TrainingJob> =>
      train((once) => ('training_data_url' in job ? submitSftJob(job, once) : submitTrainingJob(job, once)), options),
    /** The same for a job with preference pairs. */
    trainDpo: (job: DpoJobRequest, options?: TrainOptions): Promise<TrainingJob> =>
      train((once) => submitDpoJob(job, once), options),
    /** Follows a job to its end. Continues after lost connections and server restarts. */
    follow: followJob,
    getTrainingJob: (id: string): Promise<TrainingJob> => call('GET', jobPath(id)),
    /** `search`: text in the model's `project/name`. */
    listTrainingJobs: (
      filter: {
        model_id?: string;
        status?: TrainingJob['status'];
        type?: TrainingJob['type'];
        search?: string;
        order?: 'asc' | 'desc';
      } = {},
    ) => rows<TrainingJob>('/v1/preview/training-jobs', filter),
    cancelTrainingJob: (id: string): Promise<TrainingJob> => call('POST', `${jobPath(id)}/cancel`),
    getJobConfig: (id: string): Promise<JobConfig> => call('GET', `${jobPath(id)}/config`),
    listJobGroups: (id: string) => rows<JobGroup>(`${jobPath(id)}/groups`),
    /** The answers of a job's checkpoint to its evaluation prompts, with their rewards. */
    listEvaluationAnswers: (id: string) => rows<AnsweredPrompt>(`${jobPath(id)}/evaluation/answers`),
    /** The evaluations of a model's jobs. */
    listEvaluations: (modelId: string, { order = 'asc' }: { order?: 'asc' | 'desc' } = {}) =>
      rows<ModelEvaluation>(`${modelPath(modelId)}/evaluations`, { order }),
    /** Resolves when the checkpoint has answered; null: the job has no prompts. */
    waitForEvaluation: (id: string, options: WaitOptions = {}): Promise<Evaluation | null> =>
      waitForEvaluation(http, jobPath(id), within(options)),
    /** Waits for the answers, logs their rewards, and returns the mean. Null: there are no answers. */
    rewardAnswers: (id: string, reward: AnswerReward, options: WaitOptions = {}): Promise<number | null> =>
      rewardAnswers(http, { job: jobPath(id), model: modelPath }, id, reward, within(options)),
    cancelEvaluation: (id: string): Promise<Evaluation> => call('POST', `${jobPath(id)}/evaluation/cancel`),
    /** The tokens of one group as they were trained. */
    listTokens: (id: string, group: number) => rows<TrajectoryTokens>(`${jobPath(id)}/groups/${group}/tokens`),
    listHistory: (modelId: string) => rows<HistoryStep>(`${modelPath(modelId)}/metrics`),
    /** The whole history in one format; `tensorboard` is an event file. */
    async exportHistory(modelId: string, format: 'jsonl' | 'csv' | 'tensorboard'): Promise<ReadableStream<Uint8Array>> {
      const path = `${modelPath(modelId)}/metrics?format=${format}`;
      return bodyOf((await send('GET', path, { signal: within({}) })).body);
    },
    listEvents: (jobId: string) => rows<TrainingEvent>(`${jobPath(jobId)}/events`),
    followEvents: followJobEvents,

    listCheckpoints,
    /** The best checkpoint by a metric such as `val/reward`; the oldest if several are equal. Null: no checkpoint has the metric. */
    bestCheckpoint: (
      modelId: string,
      metric: string,
      { greaterIsBetter = true }: { greaterIsBetter?: boolean } = {},
    ): Promise<Evaluated | null> => bestCheckpoint(listCheckpoints(modelId), metric, greaterIsBetter),
    deleteCheckpoints: (
      modelId: string,
      steps: readonly number[],
    ): Promise<{ deleted_count: number; not_found_steps: number[] }> =>
      call('DELETE', `${modelPath(modelId)}/checkpoints`, { body: { steps } }),
    /**
     * A tar with adapter_config.json and adapter_model.safetensors. Continues after the bytes that the caller has of the tar with this
     * SHA-256; `isRest`: the content starts there, and not from the beginning.
     */
    async downloadCheckpoint(
      modelId: string,
      step: number | 'latest',
      here: { readonly bytes: number; readonly sha256: string } | null = null,
      signal?: AbortSignal,
    ): Promise<CheckpointDownload> {
      const headers = here ? { range: `bytes=${here.bytes}-`, 'if-range': `"${here.sha256}"` } : {};
      const path = `${modelPath(modelId)}/checkpoints/${step}/download`;
      const { status, headers: said, body } = await send('GET', path, { signal, headers });
      const isRest = status === 206;
      const size = (isRest ? said.get('content-range')?.split('/')[1] : said.get('content-length')) ?? '';
      const sizeBytes = /^\d{1,15}$/.test(size) ? Number(size) : NaN;
      return { content: bodyOf(body), isRest, sizeBytes, sha256: said.get('etag')?.replaceAll('"', '') ?? '' };
    },
    log: (modelId: string, body: LogRequest): Promise<{ readonly metrics: Readonly<Record<string, number>> }> =>
      call('POST', `${modelPath(modelId)}/log`, { body }),

    ...createEpisodeCalls(http),
    ...createRunCalls(http),
    ...createUsageCalls(http),
    ...createWebhookCalls(http),

    listArtifacts: (filter: ArtifactsWanted = {}) => rows<Artifact>('/v1/artifacts', { ...filter }),
    /** `entity/project/name`, with `:vN`, `:alias`, or a model's `:stepN`. */
    getArtifact: (name: string): Promise<Artifact> => call('GET', artifactPath(name)),
    /** Creates a version, or returns the files whose contents are missing. */
    commitArtifact: (name: string, manifest: ArtifactManifest): Promise<Artifact | { readonly missing: string[] }> =>
      call('PUT', artifactPath(name), { body: manifest }),
    /** Uploads a file for a later manifest. The server checks `sha256`. */
    async uploadArtifactFile(name: string, path: string, content: FileContent, sha256: string, signal?: AbortSignal) {
      const url = `${artifactPath(`${name}:draft`, path)}?sha256=${sha256}`;
      await send('PUT', url, { file: content, signal });
    },
    async downloadArtifactFile(name: string, path: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
      return bodyOf((await send('GET', artifactPath(name, path), { signal })).body);
    },
    /** Continues after the bytes that the caller has of the file with this SHA-256. Null: the server would send the whole file again. */
    async resumeArtifactFile(
      name: string,
      path: string,
      here: { readonly bytes: number; readonly sha256: string },
      signal?: AbortSignal,
    ): Promise<ReadableStream<Uint8Array> | null> {
      const headers = { range: `bytes=${here.bytes}-`, 'if-range': `"${here.sha256}"` };
      const { status, body } = await send('GET', artifactPath(name, path), { signal, headers });
      if (status === 206) return bodyOf(body);
      await body?.cancel();
      return null;
    },
    setArtifactAliases: (name: string, aliases: readonly string[]): Promise<Artifact> =>
      call('PUT', artifactPath(name), { body: { aliases } }),
    deleteArtifact: (name: string): Promise<{ deleted_count: number }> => call('DELETE', artifactPath(name)),

    chat: <T extends ChatRequest>(
      body: T,
      options: { readonly signal?: AbortSignal | undefined } = {},
    ): Promise<ChatCompletion> =>
      call('POST', '/v1/chat/completions', { body: { ...body, stream: false }, signal: options.signal }),
    /** Streams the answer: pieces of the first choice's text. Without a signal, for an hour at most. */
    async *chatStream<T extends ChatRequest>(
      body: T,
      signal?: AbortSignal,
      { onReasoning, onFinish }: ChatListeners = {},
    ): AsyncGenerator<string> {
      const options = { body: { ...body, stream: true }, signal: signal ?? within({}) };
      const response = await send('POST', '/v1/chat/completions', options);
      for await (const { data } of readServerSentEvents(chunksOf(bodyOf(response.body)))) {
        if (data === '[DONE]') return;
        const chunk = parseAnswer<{
          error?: { message?: unknown; code: string | null };
          choices?: { delta?: { content?: unknown; reasoning?: unknown }; finish_reason?: unknown }[];
        }>(data);
        if (chunk.error)
          throw new ApiError(
            200,
            visible(String(chunk.error.message)),
            chunk.error.code,
            response.headers.get('x-request-id'),
            null,
          );
        const { delta: { content, reasoning } = {}, finish_reason: finish } = chunk.choices?.[0] ?? {};
        if (typeof reasoning === 'string' && reasoning !== '') onReasoning?.(reasoning);
        if (typeof content === 'string' && content !== '') yield content;
        if (typeof finish === 'string') onFinish?.(finish);
      }
    },
  };
}

/** Answers without a body, such as 204, have none. */
const bodyOf = (body: ReadableStream<Uint8Array> | null): ReadableStream<Uint8Array> => body ?? new Blob([]).stream();
