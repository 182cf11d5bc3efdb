// A typed client of the training API, with nothing but fetch. Names are the wire's. For chat, any OpenAI client works;
// `chat` here is for small tools. It is also what the command line uses.
import { readServerSentEvents } from './sse-reader.ts';
import type {
  Artifact, ArtifactManifest, ChatCompletion, ChatRequest, Checkpoint, Model, Page, RlJobRequest, SftJobRequest, TrainingEvent, TrainingJob, TrajectoryGroup,
} from './wire.ts'; // prettier-ignore

export type * from './wire.ts';

export interface ClientOptions {
  /** `http://127.0.0.1:8484`; a path in front of /v1 is kept. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Of one request, ms. Streams and downloads are bounded by their signal. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

/** What the server answered when it refused. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string | null;
  /** For questions to the operator: the server's log has it. */
  readonly requestId: string | null;
  readonly detail: unknown;

  constructor(status: number, message: string, code: string | null, requestId: string | null, detail: unknown) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.detail = detail;
  }
}

/** The job ended in `training_failed`. */
export class TrainingFailedError extends Error {
  override readonly name = 'TrainingFailedError';
}

export interface WaitOptions {
  /** Default one hour. */
  readonly deadlineMs?: number;
  readonly onEvent?: (event: TrainingEvent) => void;
  readonly signal?: AbortSignal;
}

export type Client = ReturnType<typeof createClient>;

const DEFAULT_TIMEOUT_MS = 600_000; // large job bodies over slow lines
const DEFAULT_WAIT_MS = 3_600_000;
const RECONNECT_MS = 1_000;
const PAGE_SIZE = 100;

export function createClient({
  baseUrl,
  apiKey,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  fetch: request = fetch,
}: ClientOptions) {
  const root = baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');

  async function send(
    method: string,
    path: string,
    options: {
      body?: unknown;
      file?: Uint8Array | string | ReadableStream;
      headers?: Record<string, string>;
      signal?: AbortSignal;
    } = {},
  ) {
    const { body, file, headers = {}, signal = AbortSignal.timeout(timeoutMs) } = options;
    const response = await request(`${root}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(file === undefined ? {} : { body: file, duplex: 'half' }),
      signal,
    });
    if (!response.ok) throw await apiError(response, `${method} ${path}`);
    return response;
  }

  const call = async <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<T> =>
    (await (await send(method, path, { body, ...(headers ? { headers } : {}) })).json()) as T;

  /** All pages, one after another. */
  async function* pages<T extends { id: string }>(
    path: string,
    query: Readonly<Record<string, string | undefined>> = {},
  ): AsyncGenerator<T> {
    let after: string | undefined;
    for (;;) {
      const { data, has_more: hasMore } = await call<Page<T>>(
        'GET',
        `${path}${queryString({ ...query, after, limit: String(PAGE_SIZE) })}`,
      );
      yield* data;
      after = data.at(-1)?.id;
      if (!hasMore || after === undefined) return;
    }
  }

  /** `entity/project/name[:version]` */
  const artifactPath = (name: string, path?: string) =>
    `/v1/artifacts/${[...name.split('/'), ...(path?.split('/') ?? [])].map(encodeURIComponent).join('/')}`;
  const jobPath = (id: string) => `/v1/preview/training-jobs/${encodeURIComponent(id)}`;
  const modelPath = (id: string) => `/v1/preview/models/${encodeURIComponent(id)}`;

  /** Live events, from the beginning; goes on where it was after a lost connection. Ends with the job. */
  async function* followEvents(jobId: string, signal: AbortSignal): AsyncGenerator<TrainingEvent> {
    let lastId: string | null = null;
    for (;;) {
      try {
        const headers: Record<string, string> = {
          accept: 'text/event-stream',
          ...(lastId === null ? {} : { 'last-event-id': lastId }),
        };
        const { body } = await send('GET', `${jobPath(jobId)}/events`, { headers, signal });
        for await (const { id, data } of readServerSentEvents(body!)) {
          const event = JSON.parse(data) as TrainingEvent;
          if (id === null) continue; // an error: asked again below
          lastId = id;
          yield event;
          if (event.type === 'training_ended' || event.type === 'training_failed') return;
        }
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof ApiError && error.status < 500 && error.status !== 429) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
      signal.throwIfAborted();
    }
  }

  return {
    registerModel: (model: {
      project: string;
      name: string;
      base_model: string;
      entity?: string | null;
      return_existing?: boolean;
      /** Fork: step 0 is a copy of this checkpoint, `entity/project/name@N`. */
      from_checkpoint?: string | null;
    }): Promise<Model> => call('POST', '/v1/preview/models', { return_existing: true, ...model }),
    getModel: (id: string): Promise<Model> => call('GET', modelPath(id)),
    listModels: (filter: { project?: string; name?: string; base_model?: string } = {}) =>
      pages<Model>('/v1/preview/models', filter),
    deleteModel: (id: string): Promise<{ model_id: string; deleted_checkpoints: number }> =>
      call('DELETE', modelPath(id)),
    listBaseModels: (): Promise<string[]> => call('GET', '/v1/preview/base-models'),
    /** Everything that can be named in a chat request. */
    listCallableModels: async (): Promise<readonly { id: string; owned_by: string }[]> =>
      (await call<{ data: { id: string; owned_by: string }[] }>('GET', '/v1/models')).data,

    /** With an idempotency key a repeated submission gives the same job. */
    submitTrainingJob: (job: RlJobRequest, options: { idempotencyKey?: string } = {}): Promise<{ id: string }> =>
      call(
        'POST',
        '/v1/preview/training-jobs',
        job,
        options.idempotencyKey === undefined ? undefined : { 'idempotency-key': options.idempotencyKey },
      ),
    submitSftJob: (job: SftJobRequest, options: { idempotencyKey?: string } = {}): Promise<{ id: string }> =>
      call(
        'POST',
        '/v1/preview/sft-training-jobs',
        job,
        options.idempotencyKey === undefined ? undefined : { 'idempotency-key': options.idempotencyKey },
      ),
    getTrainingJob: (id: string): Promise<TrainingJob> => call('GET', jobPath(id)),
    listTrainingJobs: (filter: { model_id?: string; status?: TrainingJob['status'] } = {}) =>
      pages<TrainingJob>('/v1/preview/training-jobs', filter),
    cancelTrainingJob: (id: string): Promise<TrainingJob> => call('POST', `${jobPath(id)}/cancel`),
    listEvents: (jobId: string) => pages<TrainingEvent>(`${jobPath(jobId)}/events`),
    followEvents,

    /** Resolves when the new checkpoint can be called. Throws TrainingFailedError, or TimeoutError after the deadline. */
    async waitForJob(
      id: string,
      { deadlineMs = DEFAULT_WAIT_MS, onEvent, signal }: WaitOptions = {},
    ): Promise<TrainingJob> {
      const deadline = AbortSignal.timeout(deadlineMs);
      for await (const event of followEvents(id, signal ? AbortSignal.any([signal, deadline]) : deadline)) {
        onEvent?.(event);
        if (event.type === 'training_failed')
          throw new TrainingFailedError(event.data.error_message ?? 'training failed');
      }
      return call('GET', jobPath(id));
    },

    listCheckpoints: (modelId: string, { order = 'asc' }: { order?: 'asc' | 'desc' } = {}) =>
      pages<Checkpoint>(`${modelPath(modelId)}/checkpoints`, { order }),
    deleteCheckpoints: (
      modelId: string,
      steps: readonly number[],
    ): Promise<{ deleted_count: number; not_found_steps: number[] }> =>
      call('DELETE', `${modelPath(modelId)}/checkpoints`, { steps }),
    /** A tar with adapter_config.json and adapter_model.safetensors. */
    async downloadCheckpoint(
      modelId: string,
      step: number | 'latest',
      signal?: AbortSignal,
    ): Promise<ReadableStream<Uint8Array>> {
      const response = await send(
        'GET',
        `${modelPath(modelId)}/checkpoints/${step}/download`,
        signal ? { signal } : {},
      );
      return response.body!;
    },
    log: (
      modelId: string,
      request: { split: string; trajectory_groups: readonly TrajectoryGroup[] },
    ): Promise<unknown> => call('POST', `${modelPath(modelId)}/log`, request),

    listArtifacts: (filter: { project?: string; name?: string; type?: string } = {}) =>
      pages<Artifact>('/v1/artifacts', filter),
    /** `entity/project/name`, with `:vN`, `:alias`, or a model's `:stepN`. */
    getArtifact: (name: string): Promise<Artifact> => call('GET', artifactPath(name)),
    /** Makes a version, or tells which files' contents are missing. */
    commitArtifact: (name: string, manifest: ArtifactManifest): Promise<Artifact | { readonly missing: string[] }> =>
      call('PUT', artifactPath(name), manifest),
    /** For a manifest to come. `sha256` is checked. */
    async uploadArtifactFile(
      name: string,
      path: string,
      content: Uint8Array | string | ReadableStream,
      sha256: string,
      signal?: AbortSignal,
    ) {
      const url = `${artifactPath(`${name}:draft`, path)}?sha256=${sha256}`;
      await send('PUT', url, { file: content, ...(signal ? { signal } : {}) });
    },
    async downloadArtifactFile(name: string, path: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
      return (await send('GET', artifactPath(name, path), signal ? { signal } : {})).body!;
    },
    setArtifactAliases: (name: string, aliases: readonly string[]): Promise<Artifact> =>
      call('PUT', artifactPath(name), { aliases }),
    deleteArtifact: (name: string): Promise<{ deleted_count: number }> => call('DELETE', artifactPath(name)),

    chat: (body: ChatRequest): Promise<ChatCompletion> =>
      call('POST', '/v1/chat/completions', { ...body, stream: false }),
    /** The answer as it is written: pieces of the first choice's text. */
    async *chatStream(body: ChatRequest, signal?: AbortSignal): AsyncGenerator<string> {
      const response = await send('POST', '/v1/chat/completions', {
        body: { ...body, stream: true },
        ...(signal ? { signal } : {}),
      });
      for await (const { data } of readServerSentEvents(response.body!)) {
        if (data === '[DONE]') return;
        const chunk = JSON.parse(data) as {
          error?: { message: string; code: string | null };
          choices: { delta: { content?: string } }[];
        };
        if (chunk.error)
          throw new ApiError(200, chunk.error.message, chunk.error.code, response.headers.get('x-request-id'), null);
        const content = chunk.choices[0]?.delta.content;
        if (content) yield content;
      }
    },
  };
}

function queryString(query: Readonly<Record<string, string | undefined>>): string {
  const entries = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}

async function apiError(response: Response, what: string): Promise<ApiError> {
  const text = await response.text();
  const requestId = response.headers.get('x-request-id');
  try {
    const { error, detail } = JSON.parse(text) as {
      error?: { message?: string; code?: string | null };
      detail?: unknown;
    };
    if (error?.message) return new ApiError(response.status, error.message, error.code ?? null, requestId, detail);
  } catch {
    // not ours: a proxy's page
  }
  return new ApiError(response.status, `${what}: ${response.status} ${text.slice(0, 200)}`, null, requestId, null);
}
