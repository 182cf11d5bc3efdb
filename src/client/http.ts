// Requests to one server: its address, the key, a deadline for each request, a bound for each answer, and errors from refusals. Redirects
// are not followed: neither the key nor what is sent reaches an address that the caller has not chosen.
import { AnswerError, isObject, parseAnswer, readStart, readText, visible } from './answers.ts';
import { patientFetch } from './patient-fetch.ts';
import type { Page } from './wire.ts';

export interface ClientOptions {
  /** `http://127.0.0.1:8484`; a path before /v1 is kept. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** How long one request may take, in ms. Of streams and downloads only until they begin; their signal limits the rest. */
  readonly timeoutMs?: number;
  /** The longest answer that is read, in bytes; streams and downloads have their own bounds. Default: 256 MiB. */
  readonly answerBytesMax?: number;
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
const DEFAULT_ANSWER_BYTES_MAX = 256 * 1024 * 1024; // a page of trajectories with their tokens may have many MB
const PAGE_SIZE = 100;

/** Throws TypeError if the address or the key is missing, for example because an environment variable is not set. */
export function createHttp({
  baseUrl,
  apiKey,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  answerBytesMax = DEFAULT_ANSWER_BYTES_MAX,
  fetch: given,
}: ClientOptions): Http {
  for (const [name, value] of Object.entries({ baseUrl, apiKey }))
    if (!value)
      throw new TypeError(
        `createClient needs ${name}, and got ${value === undefined ? 'undefined' : `"${value}"`}: is its environment variable set?`,
      );
  if (!/^https?:\/\//.test(baseUrl))
    throw new TypeError(`createClient needs a baseUrl such as http://127.0.0.1:8484, and got "${baseUrl}".`);
  const root = baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
  const request = given ?? patientFetch;

  async function send(method: string, path: string, options: SendOptions = {}): Promise<Response> {
    const { body, file, headers = {}, signal } = options;
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort(new DOMException('The answer did not begin in time.', 'TimeoutError'));
    }, timeoutMs);
    const init: RequestInit & { duplex?: 'half' } = {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(file === undefined ? {} : { body: file, duplex: 'half' }),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    };
    try {
      const response = await request(`${root}${path}`, init).catch((error: unknown) => {
        throw isFailedFetch(error) ? withAddress(error, root) : error;
      });
      refuseRedirect(response, `${method} ${path}`, root);
      if (!response.ok) throw await readRefusal(response, `${method} ${path}`);
      if (response.body) responseOf.set(response.body, response);
      return response;
    } finally {
      clearTimeout(timer);
    }
  }

  const call = async <T>(method: string, path: string, options: SendOptions = {}): Promise<T> => {
    const each = AbortSignal.timeout(timeoutMs);
    const signal = options.signal ? AbortSignal.any([options.signal, each]) : each;
    return parseAnswer<T>(await readText(await send(method, path, { ...options, signal }), answerBytesMax));
  };

  /** Requests the next page before yielding this one: the consumer may delete the row that is its cursor. */
  async function* rows<T extends { id: string }>(path: string, query: Query = {}): AsyncGenerator<T> {
    const get = async (after?: string): Promise<Page<T>> => {
      const page = await call<Page<T>>('GET', `${path}${queryString({ ...query, after, limit: String(PAGE_SIZE) })}`);
      const hasRows: boolean = Array.isArray(page.data) && page.data.every((row: unknown) => isObject(row));
      if (!hasRows) throw new AnswerError(`GET ${path}: the answer has no list of rows.`);
      if (page.has_more && (!page.last_id || page.last_id === after))
        throw new AnswerError(`GET ${path}: the page after ${after ?? 'none'} does not say how to go on.`);
      return page;
    };
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

/** In browsers, a redirect that is not followed has neither status nor address. */
function refuseRedirect({ status, type, headers }: Response, what: string, root: string): void {
  if (type !== 'opaqueredirect' && !(status >= 300 && status < 400)) return;
  const to = headers.get('location');
  throw new ApiError(
    status,
    `${what}: ${root} redirects${to === null ? '' : ` to ${visible(to.slice(0, 500))}`}. Redirects are not followed: use the final address.`,
    'redirect',
    null,
    null,
  );
}

/** Longer refusals are not read: they are not from this server. */
const REFUSAL_BYTES_MAX = 1_000_000;
const MESSAGE_CHARACTERS_MAX = 20_000;

async function readRefusal(response: Response, what: string): Promise<ApiError> {
  const { text } = await readStart(response, REFUSAL_BYTES_MAX);
  const requestId = response.headers.get('x-request-id');
  const seconds = Number(response.headers.get('retry-after') ?? NaN);
  const retryAfterMs = seconds >= 0 ? 1000 * seconds : null; // the server sends seconds, not dates
  try {
    const { error, detail } = JSON.parse(text) as { error?: { message?: unknown; code?: unknown }; detail?: unknown };
    const { message, code } = error ?? {};
    if (typeof message === 'string' && message !== '') {
      const said = visible(message.slice(0, MESSAGE_CHARACTERS_MAX));
      const named = typeof code === 'string' ? code : null;
      return new ApiError(response.status, said, named, requestId, detail, retryAfterMs);
    }
  } catch {
    // not from this server: for example the page of a proxy
  }
  const message = visible(`${what}: ${response.status} ${text.slice(0, 200)}`);
  return new ApiError(response.status, message, null, requestId, null, retryAfterMs);
}
