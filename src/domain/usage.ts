// What chat requests used, added up: one row per key, project, model and day.

export interface UsageKey {
  readonly entity: string;
  readonly keyId: string;
  /** Empty: the requests named none. */
  readonly project: string;
  /** As answers name it. */
  readonly model: string;
  /** `2026-11-21`, in UTC: the day on which the requests ended. */
  readonly dayUtc: string;
}

export interface UsageAmounts {
  readonly requests: number;
  readonly promptTokens: number;
  /** Of the prompt tokens: those that did not have to be computed. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

export interface UsageEntry extends UsageKey, UsageAmounts {}

export const NO_USAGE: UsageAmounts = { requests: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0 };

export const addUsage = <T extends UsageAmounts>(a: T, b: UsageAmounts): T => ({
  ...a,
  requests: a.requests + b.requests,
  promptTokens: a.promptTokens + b.promptTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  completionTokens: a.completionTokens + b.completionTokens,
});
