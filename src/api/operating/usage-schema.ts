// GET /v1/usage on the wire.
import { z } from 'zod';
import type { UsageAmounts, UsageRow } from '#domain/usage';
import type { Usage } from '#services/accounts/usage';
import { envelope, pageFields } from '../http/listing.ts';
import { refuse } from '#validation/parse';

const day = z.iso.date('String should be a day like 2026-11-21').optional();

export const usageQuery = z.looseObject({
  ...pageFields,
  api_key_id: z.string().optional().meta({ description: 'Id of a key, as `whetstone keys list` shows it.' }),
  project: z
    .string()
    .optional()
    .meta({ description: 'As in the Vendor-Project header, without the team. Empty: requests without a project.' }),
  model: z.string().optional().meta({ description: 'Name of the model, as in answers.' }),
  start_date: day.meta({ description: 'First day, UTC.' }),
  end_date: day.meta({ description: 'Last day (inclusive), UTC.' }),
});

export const amounts = {
  requests: z.int(),
  prompt_tokens: z.int(),
  cached_tokens: z.int().meta({ description: 'Number of prompt tokens that were read from the cache.' }),
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
  totals: z
    .object(amounts)
    .meta({ description: 'Totals of everything that matches the filter, not only of this page.' }),
});

export function toUsageFilter(query: z.output<typeof usageQuery>): Parameters<Usage['list']>[1] {
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
