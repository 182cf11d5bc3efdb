// Shared by all routes of the Tinker protocol: their prefix, the key header, and strict JSON parsing.
import type { z } from 'zod';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import { parse, ValidationError } from '#validation/parse';

/** TINKER_BASE_URL ends before `/api/v1`, which the SDK adds. */
export const TINKER_PREFIX = '/tinker/api/v1';

type Definition = Parameters<typeof endpoint>[0];
type Call = Parameters<Definition['handle']>[0];

interface Route<B, Q extends z.ZodType> extends Pick<
  Definition,
  'summary' | 'access' | 'role' | 'begins' | 'errors' | 'answer' | 'alsoAnswers' | 'bodySize' | 'bodyType'
> {
  /** Schema of the body; absent: there is no body, or the handler reads it. */
  readonly body?: z.ZodType<B>;
  readonly query?: Q;
  readonly handle: (call: Omit<Call, 'body' | 'query'> & { body: B; query: z.output<Q> }) => Promise<unknown>;
  /** Told of a request that is refused for what it says, with its body as it was sent. */
  readonly onRefused?: (caller: Caller, raw: unknown, reason: string) => Promise<void>;
}

export function tinkerRoute<B = undefined, Q extends z.ZodType = z.ZodUndefined>(
  route: `${Definition['method']} /${string}`,
  { body: schema, query, handle, onRefused, ...about }: Route<B, Q>,
): Endpoint {
  const [method, path] = route.split(' ') as [Definition['method'], string];
  const body = schema && { schema, read: (raw: unknown) => (onRefused ? (raw as B) : parse(schema, raw, 'body')) };
  const handleNumbered: typeof handle = (call) =>
    notingRefusal(
      async () => handle({ ...call, body: parse(schema!, call.body, 'body') }),
      (reason) => onRefused!(call.caller, call.body, reason),
    );
  return endpoint<B, Q>({
    method,
    path: `${TINKER_PREFIX}${path}`,
    tag: 'Tinker',
    dialect: 'tinker',
    ...about,
    ...(body ? { body } : {}),
    ...(query ? { query } : {}),
    handle: schema && onRefused ? handleNumbered : handle,
  });
}

/** Runs `work`; if it refuses the request for what it says, `note` is told why, and the refusal is thrown on. */
export async function notingRefusal<T>(
  work: () => Promise<T>,
  note: (reason: string) => Promise<void> | undefined,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = reasonOfRefusal(error);
    if (reason !== null) await note(reason)?.catch(ignoreUnknownRun);
    throw error;
  }
}

/** Null: sending the same request again may help. */
function reasonOfRefusal(error: unknown): string | null {
  if (error instanceof ValidationError) return error.message;
  return error instanceof AppError && ['invalid_request', 'body_too_large'].includes(error.code) ? error.message : null;
}

/** The refusal itself says more than that the run of the request is not the caller's. */
function ignoreUnknownRun(error: unknown): void {
  if (!(error instanceof AppError)) throw error;
}
