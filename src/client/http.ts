// Requests to one server: its address, the key, a deadline for each request, and errors from refusals.
import { chunksOf } from './chunks.ts';
import type { Page } from './wire.ts';

export interface ClientOptions {
  /** `http://127.0.0.1:8484`; a path before /v1 is kept. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** How long one request may take, in ms. Of streams and downloads only until they begin; their signal limits the rest. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

/** The server's answer to a request that it refused. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string | null;
  /** The request's id in the server's log. */
  readonly requestId: string | null;
  readonly detail: unknown;
  /** How long the server asks the client to wait. */
  readonly retryAfterMs: number | null;

  constructor(
    status: number,
    message: string,
    code: string | null,
    requestId: string | null,
    detail: unknown,
    retryAfterMs: number | null = null,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Bytes, text or a stream, as `fetch` accepts them. */
export type FileContent = NonNullable<RequestInit['body']>;

export interface SendOptions {
  readonly body?: unknown;
  readonly file?: FileContent;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export type Query = Readonly<Record<string, string | undefined>>;

export interface Http {
  /** Throws ApiError unless the status is 2xx. */
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Response>;
  /** The JSON of the answer. */
  readonly call: <T>(method: string, path: string, options?: SendOptions) => Promise<T>;
  /** The rows of all pages. */
  readonly rows: <T extends { id: string }>(path: string, query?: Query) => AsyncGenerator<T>;
}

const DEFAULT_TIMEOUT_MS = 600_000; // for large job bodies over slow connections
const PAGE_SIZE = 100;

/** Throws TypeError if the address or the key is missing, for example because an environment variable is not set. */
export function createHttp({ baseUrl, apiKey, timeoutMs = DEFAULT_TIMEOUT_MS, fetch: given }: ClientOptions): Http {
  for (const [name, value] of Object.entries({ baseUrl, apiKey }))
    if (!value)
      throw new TypeError(
        `createClient needs ${name}, and got ${value === undefined ? 'undefined' : `"${value}"`}: is its environment variable set?`,
      );
  if (!/^https?:\/\//.test(baseUrl))
    throw new TypeError(`createClient needs a baseUrl such as http://127.0.0.1:8484, and got "${baseUrl}".`);
  const root = baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
  const request = given ?? ((url: string, init: RequestInit) => fetch(url, init)); // in browsers, fetch must be called on its window

  async function send(method: string, path: string, options: SendOptions = {}): Promise<Response> {
    const { body, file, headers = {}, signal } = options;
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort(new DOMException('The answer did not begin in time.', 'TimeoutError'));
    }, timeoutMs);
    const response = await request(`${root}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(file === undefined ? {} : { body: file, duplex: 'half' as const }),
      signal: signal ?? late.signal,
    })
      .catch((error: unknown) => {
        throw isFailedFetch(error) ? withAddress(error, root) : error;
      })
      .finally(() => clearTimeout(timer));
    if (!response.ok) throw await readRefusal(response, `${method} ${path}`);
    if (response.body) responseOf.set(response.body, response);
    return response;
  }

  const call = async <T>(method: string, path: string, options: SendOptions = {}): Promise<T> => {
    const each = AbortSignal.timeout(timeoutMs);
    const signal = options.signal ? AbortSignal.any([options.signal, each]) : each;
    return (await (await send(method, path, { ...options, signal })).json()) as T;
  };

  /** Requests the next page before yielding this one: the consumer may delete the row that is its cursor. */
  async function* rows<T extends { id: string }>(path: string, query: Query = {}): AsyncGenerator<T> {
    const get = (after?: string): Promise<Page<T>> =>
      call('GET', `${path}${queryString({ ...query, after, limit: String(PAGE_SIZE) })}`);
    for (let page: Page<T> | null = await get(); page;) {
      const next: Page<T> | null = page.has_more ? await get(page.last_id) : null;
      yield* page.data;
      page = next;
    }
  }

  return { send, call, rows };
}

/** Keeps a response as long as its body: when Node collects a response, it ends a body that nobody reads yet, without an error. */
const responseOf = new WeakMap<ReadableStream, Response>();

/** Node's message if a server does not answer or the connection breaks; it says neither where nor why. */
const isFailedFetch = (error: unknown): error is TypeError =>
  error instanceof TypeError && error.message.startsWith('fetch failed');

function withAddress(error: TypeError, root: string): TypeError {
  const { code, message } = (error.cause ?? {}) as { readonly code?: string; readonly message?: string };
  return new TypeError(`fetch failed: ${root} does not answer (${code ?? message ?? 'no cause given'})`, {
    cause: error,
  });
}

function queryString(query: Query): string {
  const entries = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}

/** Longer refusals are not read: they are not from this server. */
const REFUSAL_BYTES_MAX = 1_000_000;

async function readStart({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of body ? chunksOf(body) : []) {
    text += decoder.decode(chunk, { stream: true });
    size += chunk.length;
    if (size > REFUSAL_BYTES_MAX) break; // leaving the loop ends the connection
  }
  return text;
}

async function readRefusal(response: Response, what: string): Promise<ApiError> {
  const text = await readStart(response);
  const requestId = response.headers.get('x-request-id');
  const seconds = Number(response.headers.get('retry-after') ?? NaN);
  const retryAfterMs = seconds >= 0 ? 1000 * seconds : null; // the server sends seconds, not dates
  try {
    const { error, detail } = JSON.parse(text) as {
      error?: { message?: string; code?: string | null };
      detail?: unknown;
    };
    if (error?.message)
      return new ApiError(response.status, error.message, error.code ?? null, requestId, detail, retryAfterMs);
  } catch {
    // not from this server: for example the page of a proxy
  }
  const message = `${what}: ${response.status} ${text.slice(0, 200)}`;
  return new ApiError(response.status, message, null, requestId, null, retryAfterMs);
}
