// GET /v1/usage: usage of the caller's entity by day, key, project and model.
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { toEnvelope, toPage } from '../http/listing.ts';
import {
  toAmounts,
  toUsage,
  toUsageFilter,
  toUsageSum,
  usageList,
  usageQuery,
  usageSums,
  usageSumsQuery,
} from './usage-schema.ts';

export function usageRoutes({ usage }: Pick<ApiServices, 'usage'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/usage',
      tag: 'Server',
      summary: 'Read the number of tokens and requests by day, key, project and model',
      access: 'read',
      query: usageQuery,
      answer: usageList,
      async handle({ caller, query }) {
        const listing = await usage.list(caller, toUsageFilter(query), toPage(query));
        return { ...toEnvelope(listing, toUsage), totals: toAmounts(listing.totals) };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/usage/sums',
      tag: 'Server',
      summary: 'Read sums of usage by model, key, project or day, most tokens first. The steps of a model are summed',
      access: 'read',
      query: usageSumsQuery,
      answer: usageSums,
      async handle({ caller, query }) {
        const { rows, hasMore, totals } = await usage.sums(caller, toUsageFilter(query), query.by, query.limit);
        return {
          object: 'list' as const,
          data: rows.map(toUsageSum),
          has_more: hasMore,
          totals: toAmounts(totals),
        };
      },
    }),
  ];
}
