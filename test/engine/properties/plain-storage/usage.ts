// Usage: sums by key, model and day.
import { addUsage, totalUsage, type UsageEntry } from '#domain/usage';
import { paginate } from './page.ts';
import type { TestedStorage } from './tested-storage.ts';

export function createUsage(): TestedStorage['usage'] {
  const used = new Map<string, UsageEntry>();
  return {
    async add(entries) {
      for (const entry of entries) addUsage(used, entry);
    },
    async list({ entity, keyId, project, model, from, to }, page) {
      const all = [...used]
        .map(([id, entry]) => ({ id, ...entry }))
        .filter((row) => row.entity === entity)
        .sort((a, b) => (a.dayUtc === b.dayUtc ? 0 : a.dayUtc < b.dayUtc ? -1 : 1));
      const matching = all.filter(
        (row) =>
          row.keyId === (keyId ?? row.keyId) &&
          row.project === (project ?? row.project) &&
          row.model === (model ?? row.model) &&
          row.dayUtc >= (from ?? row.dayUtc) &&
          row.dayUtc <= (to ?? row.dayUtc),
      );
      return { ...paginate(all, matching, page), totals: totalUsage(matching) };
    },
  };
}
