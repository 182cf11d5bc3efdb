// Calls the server's API, typed by its description (openapi.ts, generated). A refusal is thrown with the server's message; a key that
// is no longer valid is forgotten, so that the page asks for another.
import { forgetKey, readKey } from './key.ts';
import type { paths } from './openapi.ts';

export type Path = keyof paths;
export type Method = 'get' | 'post' | 'put' | 'delete';

type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type Of<P extends Path, M extends Method> = paths[P] extends Record<M, infer Operation> ? Operation : never;

/** The body of a 200. */
export type Answer<P extends Path, M extends Method = 'get'> =
  Of<P, M> extends { responses: { 200: infer Response } } ? Json<Response> : never;
/** A row of a list. */
export type Item<P extends Path> = Answer<P> extends { data: readonly (infer Row)[] } ? Row : never;
export type Query<P extends Path, M extends Method = 'get'> =
  Of<P, M> extends { parameters: { query?: infer Given } } ? Given : never;

export interface CallOptions<P extends Path, M extends Method> {
  /** Path parameters: `{ model_id: … }`. */
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Query<P, M> | undefined;
  readonly body?: unknown;
  /** A file, instead of a body: the browser reads it while it sends it. */
  readonly content?: Blob;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** The server's message when it refused a call. Status 0: no response. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly requestId: string | null;

  constructor(status: number, message: string, requestId: string | null) {
    super(message);
    this.status = status;
    this.requestId = requestId;
  }
}

/** Throws ApiError; an aborted call throws what `fetch` throws. */
export async function call<P extends Path, M extends Method>(
  method: M,
  path: P,
  options: CallOptions<P, M> = {},
): Promise<Answer<P, M>> {
  return (await (await send(method, path, options)).json()) as Answer<P, M>;
}

/** Returns the response unread: for streams and downloads. */
export async function send<P extends Path, M extends Method>(
  method: M,
  path: P,
  { path: named = {}, query, body, content, headers = {}, signal }: CallOptions<P, M> = {},
): Promise<Response> {
  const request: RequestInit = {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${readKey() ?? ''}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(content === undefined ? {} : { 'content-type': 'application/octet-stream' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(content === undefined ? {} : { body: content }),
    ...(signal ? { signal } : {}),
  };
  const response = await fetch(urlOf(path, named, query ?? {}), request).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'The server does not respond. It may have stopped, or the connection may be broken.', null);
  });
  if (response.ok) return response;
  if (response.status === 401) forgetKey();
  throw await apiError(response);
}

/** Relative to the page, under whatever prefix it is served. */
function urlOf(path: string, named: Readonly<Record<string, string | number>>, query: object = {}): URL {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(named[name] ?? ''));
  const url = new URL(`.${filled}`, new URL('./', document.baseURI));
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') url.searchParams.set(name, String(value));
  }
  return url;
}

/** `detail` is a text, or a list of faults, each with its location. */
async function apiError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('x-request-id');
  const text = await response.text();
  try {
    const { error, detail } = JSON.parse(text) as { error?: { message?: string }; detail?: string | Fault[] };
    const faults = Array.isArray(detail) ? detail.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`) : [];
    const message = faults.length > 0 ? faults.join('\n') : withoutRoutes(error?.message ?? '');
    if (message) return new ApiError(response.status, message, requestId);
  } catch {
    // not from our server: a proxy's page
  }
  return new ApiError(response.status, `${response.status} ${response.statusText} ${text.slice(0, 200)}`, requestId);
}

/** A page has the lists that its reader needs: sentences that name a route are for programs. */
export function withoutRoutes(message: string): string {
  const rest = message.replace(/(?:^| )[^.]*\b(?:GET|POST|PUT|DELETE) \/v1\/[^.]*\./g, '').trim();
  return rest === '' ? message : rest;
}

interface Fault {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}
