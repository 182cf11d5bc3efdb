// Shared by all routes of the Tinker protocol: their prefix, the key header, and strict JSON parsing.
import type { z } from 'zod';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { parse } from '#validation/parse';

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
}

export function tinkerRoute<B = undefined, Q extends z.ZodType = z.ZodUndefined>(
  route: `${Definition['method']} /${string}`,
  { body: schema, query, handle, ...about }: Route<B, Q>,
): Endpoint {
  const [method, path] = route.split(' ') as [Definition['method'], string];
  const body = schema && { schema, read: (raw: unknown) => parse(schema, raw, 'body') };
  return endpoint<B, Q>({
    method,
    path: `${TINKER_PREFIX}${path}`,
    tag: 'Tinker',
    dialect: 'tinker',
    ...about,
    ...(body ? { body } : {}),
    ...(query ? { query } : {}),
    handle,
  });
}
