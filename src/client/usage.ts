// Sums of usage: tokens and requests by model, key, project or day.
import type { Http } from './http.ts';

export interface UsageAmounts {
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly cached_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** A part is null if the sums do not tell it apart. */
export interface UsageSum extends UsageAmounts {
  /** Without its step. */
  readonly model: string | null;
  readonly api_key_id: string | null;
  readonly project: string | null;
  readonly date: string | null;
}

export interface UsageSums {
  /** Most tokens first. */
  readonly data: readonly UsageSum[];
  readonly has_more: boolean;
  readonly totals: UsageAmounts;
}

export interface UsageQuery {
  /** Default: model and api_key. */
  readonly by?: readonly ('model' | 'api_key' | 'project' | 'day')[];
  readonly api_key_id?: string;
  readonly project?: string;
  readonly model?: string;
  /** First and last day, in UTC. */
  readonly start_date?: string;
  readonly end_date?: string;
  readonly limit?: number;
}

export function createUsageCalls({ call }: Http) {
  return {
    getUsageSums: ({ by, limit, ...filter }: UsageQuery = {}): Promise<UsageSums> => {
      const query = new URLSearchParams({
        ...filter,
        ...(by === undefined ? {} : { by: by.join(',') }),
        ...(limit === undefined ? {} : { limit: String(limit) }),
      });
      return call('GET', `/v1/usage/sums?${query}`);
    },
  };
}
