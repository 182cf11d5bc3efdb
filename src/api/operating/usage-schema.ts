// GET /v1/usage on the wire.
import { z } from 'zod';
import { USAGE_PARTS, type UsageAmounts, type UsagePart, type UsageRow, type UsageSum } from '#domain/usage';
import type { Usage } from '#services/accounts/usage';
import { envelope, pageFields } from '../http/listing.ts';
import { integer } from '#validation/lax';
import { refuse } from '#validation/parse';

const day = z.iso.date('String should be a day like 2026-11-21').optional();

const filterFields = {
  api_key_id: z.string().optional().describe('Id of a key, as `whetstone keys list` shows it.'),
  project: z
    .string()
    .optional()
    .describe('As in the OpenAI-Project header, without the team. Empty: requests without a project.'),
  model: z.string().optional().describe('Name of the model, as in answers.'),
  start_date: day.describe('First day, UTC.'),
  end_date: day.describe('Last day (inclusive), UTC.'),
};

export const usageQuery = z.looseObject({ ...pageFields, ...filterFields });

const SUMS_MAX = 1_000;

const isParts = (parts: readonly string[]): boolean =>
  parts.every((part) => (USAGE_PARTS as readonly string[]).includes(part)) && new Set(parts).size === parts.length;

export const usageSumsQuery = z.looseObject({
  ...filterFields,
  by: z
    .string()
    .default('model,api_key')
    .refine((text) => isParts(text.split(',')), `Input should be some of ${USAGE_PARTS.join(', ')}, with commas`)
    .transform((text) => text.split(',') as UsagePart[])
    .describe('What to tell apart: some of `model`, `api_key`, `project` and `day`, with commas.'),
  limit: integer({ ge: 1, le: SUMS_MAX }).default(100),
});

export const amounts = {
  requests: z.int(),
  prompt_tokens: z.int(),
  cached_tokens: z.int().describe('Number of prompt tokens that were read from the cache.'),
  completion_tokens: z.int(),
  total_tokens: z.int(),
};

export const usageList = envelope(
  z.object({
    id: z.string(),
    object: z.literal('usage'),
    date: z.string(),
    api_key_id: z.string(),
    project: z.string(),
    model: z.string(),
    ...amounts,
  }),
).extend({
  totals: z.object(amounts).describe('Totals of everything that matches the filter, not only of this page.'),
});

export const usageSums = z.object({
  object: z.literal('list'),
  data: z.array(
    z
      .object({
        object: z.literal('usage_sum'),
        model: z.string().nullable().describe('Name without step. Null: sums do not tell models apart.'),
        api_key_id: z.string().nullable().describe('Null: sums do not tell keys apart.'),
        project: z
          .string()
          .nullable()
          .describe('Empty: requests without a project. Null: sums do not tell projects apart.'),
        date: z.string().nullable().describe('Day in UTC. Null: sums do not tell days apart.'),
        ...amounts,
      })
      .meta({ title: 'UsageSum' }),
  ),
  has_more: z.boolean().describe('Whether there are more sums than `limit`.'),
  totals: z.object(amounts).describe('Totals of everything that matches the filter.'),
});

export const toUsageSum = ({ model, keyId, project, dayUtc, ...used }: UsageSum) => ({
  object: 'usage_sum' as const,
  model,
  api_key_id: keyId,
  project,
  date: dayUtc,
  ...toAmounts(used),
});

type Filter = Pick<z.output<typeof usageQuery>, keyof typeof filterFields>;

export function toUsageFilter(query: Filter): Parameters<Usage['list']>[1] {
  const { api_key_id: keyId, project, model, start_date: from, end_date: to } = query;
  if (from !== undefined && to !== undefined && from > to)
    refuse(['query', 'end_date'], 'end_date is before start_date.', to);
  const given = Object.entries({ keyId, project, model, from, to }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

export const toUsage = ({ id, keyId, project, model, dayUtc, ...used }: UsageRow) => ({
  id,
  object: 'usage' as const,
  date: dayUtc,
  api_key_id: keyId,
  project,
  model,
  ...toAmounts(used),
});

export const toAmounts = ({ requests, promptTokens, cachedTokens, completionTokens }: UsageAmounts) => ({
  requests,
  prompt_tokens: promptTokens,
  cached_tokens: cachedTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
});
