// Usage of chat requests, added up in one row per key, project, model and day.
import { createHash } from 'node:crypto';

export interface UsageKey {
  readonly entity: string;
  readonly keyId: string;
  /** Empty: the requests named no project. */
  readonly project: string;
  /** The model name in answers. */
  readonly model: string;
  /** `2026-11-21`, in UTC: the day on which the requests ended. */
  readonly dayUtc: string;
}

export interface UsageAmounts {
  readonly requests: number;
  readonly promptTokens: number;
  /** Prompt tokens that were served from the prefix cache. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

export interface UsageEntry extends UsageKey, UsageAmounts {}

/** The UTC day of a point in time. */
export const dayUtcAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** What one request used. */
export type RequestUse = Omit<UsageEntry, 'requests'>;

export interface UsageRow extends UsageEntry {
  readonly id: string;
}

/** What sums of usage may be told apart by. */
export const USAGE_PARTS = ['model', 'api_key', 'project', 'day'] as const;
export type UsagePart = (typeof USAGE_PARTS)[number];

/** Usage of everything that agrees in some parts; null: not told apart by it. */
export interface UsageSum extends UsageAmounts {
  /** Without its step: a model's steps are summed. */
  readonly model: string | null;
  readonly keyId: string | null;
  readonly project: string | null;
  readonly dayUtc: string | null;
}

export const NO_USAGE: UsageAmounts = { requests: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0 };

/** Deterministic, so that amounts are added to the existing row. */
export const usageId = ({ entity, keyId, project, model, dayUtc }: UsageKey): string =>
  createHash('sha256')
    .update(JSON.stringify([entity, keyId, project, model, dayUtc]))
    .digest('hex')
    .slice(0, 32);

/** Adds to a map by usageId. */
export function addUsage(rows: Map<string, UsageEntry>, entry: UsageEntry): void {
  const id = usageId(entry);
  const known = rows.get(id);
  rows.set(id, { ...entry, ...sum(known ?? NO_USAGE, entry) });
}

export const totalUsage = (rows: Iterable<UsageAmounts>): UsageAmounts => [...rows].reduce(sum, NO_USAGE);

const sum = (a: UsageAmounts, b: UsageAmounts): UsageAmounts => ({
  requests: a.requests + b.requests,
  promptTokens: a.promptTokens + b.promptTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  completionTokens: a.completionTokens + b.completionTokens,
});
