// API keys and their limits on the wire.
import { z } from 'zod';
import { hasUnseenCharacters, UNSEEN_PROBLEM } from '#base/unseen-characters';
import { SCOPES, type ApiKey } from '#domain/api-key';
import { LIMIT_NAMES, type LimitName, type Limits } from '#domain/limits';
import type { NewApiKey } from '#services/accounts/api-keys';
import { integer } from '#validation/lax';
import { isoOrNull } from '../http/time.ts';

const WIRE_NAME = {
  requestsInFlight: 'requests_in_flight',
  queuedJobs: 'queued_jobs',
  storedBytes: 'stored_bytes',
  tokensPerDay: 'tokens_per_day',
} as const satisfies Record<LimitName, string>;

const limit = integer({ ge: 0 }).optional();
const limits = z
  .looseObject({
    requests_in_flight: limit.describe('Maximum number of concurrent requests.'),
    queued_jobs: limit.describe('Maximum number of jobs that are queued or running.'),
    stored_bytes: limit,
    tokens_per_day: limit.describe('Maximum number of tokens per UTC day, prompts and completions together.'),
  })
  .meta({ title: 'KeyLimits' });

export const createKey = z
  .looseObject({
    name: z
      .string()
      .min(1)
      .max(200)
      .refine((name) => !hasUnseenCharacters(name), `Value error, ${UNSEEN_PROBLEM}`)
      .describe('Display name of the key.'),
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .optional()
      .describe('Default: chat, train, read. train includes read, admin includes all.'),
    limits: limits
      .optional()
      .describe('Omitted limits are those of the entity. A key with limits cannot create other keys.'),
  })
  .meta({ title: 'CreateKeyRequest' });

export const keyResponse = z
  .object({
    id: z.guid(),
    object: z.literal('api_key'),
    entity: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    limits: z.record(z.string(), z.int()),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().nullable().describe('When the key was last used, to the minute.'),
    revoked_at: z.iso.datetime().nullable().describe('When it was revoked; null: it is active.'),
  })
  .meta({ title: 'ApiKey' });

export const createdKey = keyResponse.extend({
  secret: z.string().describe('The secret key. Shown only once.'),
});

export const toNewKey = (entity: string, { name, scopes, limits: given }: z.output<typeof createKey>): NewApiKey => ({
  entity,
  name,
  scopes: scopes && SCOPES.filter((scope) => scopes.includes(scope)),
  limits: toLimits(given ?? {}),
});

const toLimits = (given: z.output<typeof limits>): Limits =>
  Object.fromEntries(
    LIMIT_NAMES.flatMap((name) => {
      const value = given[WIRE_NAME[name]];
      return value === undefined ? [] : [[name, value]];
    }),
  );

export const toKeyResponse = (key: ApiKey) => ({
  id: key.id,
  object: 'api_key' as const,
  entity: key.entity,
  name: key.name,
  scopes: [...key.scopes],
  limits: Object.fromEntries(Object.entries(key.limits).map(([name, value]) => [WIRE_NAME[name as LimitName], value])),
  created_at: new Date(key.createdAtMs).toISOString(),
  last_used_at: isoOrNull(key.lastUsedAtMs),
  revoked_at: isoOrNull(key.revokedAtMs),
});
