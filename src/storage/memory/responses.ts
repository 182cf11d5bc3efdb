// The slow, simple reference for sql/responses.ts.
import { isAnswered, type StoredResponse } from '#domain/stored-response';
import type { ResponseStore } from '../response-store.ts';

interface Claimable extends StoredResponse {
  readonly leaseUntilMs: number;
  readonly claimedAtMs: number;
}

export interface MemoryResponses {
  readonly store: ResponseStore;
  /** For the inventory. */
  rows(): readonly StoredResponse[];
}

export function createMemoryResponses(): MemoryResponses {
  let rows: Claimable[] = [];
  const change = (id: string, changes: Partial<Claimable>) => {
    rows = rows.map((row) => (row.id === id ? { ...row, ...changes } : row));
  };
  const find = (id: string) => rows.find((row) => row.id === id);
  const running = (id: string, attempt: number) => {
    const row = find(id);
    return row?.status === 'in_progress' && row.attempt === attempt ? row : null;
  };
  const shown = ({ leaseUntilMs: _l, claimedAtMs: _c, ...response }: Claimable): StoredResponse => response;
  const byTime = (a: Claimable, b: Claimable) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1);
  const lastClaim = (entity: string) =>
    Math.max(0, ...rows.filter((row) => row.entity === entity).map((row) => row.claimedAtMs));

  return {
    rows: () => rows.map(shown),
    store: {
      async create(response) {
        if (!find(response.id)) rows.push({ ...response, leaseUntilMs: 0, claimedAtMs: 0 });
      },
      async find(id) {
        const row = find(id);
        return row ? shown(row) : null;
      },
      async claim(_worker, nowMs, leaseMs, baseModels) {
        const isFree = ({ status, leaseUntilMs }: Claimable) =>
          status === 'queued' ||
          (status === 'in_progress' && (leaseUntilMs <= nowMs || leaseUntilMs > nowMs + 3 * leaseMs));
        const next = rows
          .filter((row) => isFree(row) && baseModels.includes(row.baseModel))
          .sort((a, b) => lastClaim(a.entity) - lastClaim(b.entity) || byTime(a, b))[0];
        if (!next) return null;
        change(next.id, {
          status: 'in_progress',
          attempt: next.attempt + 1,
          leaseUntilMs: nowMs + leaseMs,
          claimedAtMs: nowMs,
        });
        return shown(find(next.id)!);
      },
      async renewLease(id, attempt, leaseUntilMs) {
        const row = running(id, attempt);
        if (row) change(id, { leaseUntilMs });
        return row !== null;
      },
      async release(id, attempt) {
        if (running(id, attempt)) change(id, { status: 'queued', attempt: attempt - 1 });
      },
      async releaseLeases() {
        rows = rows.map((row) => (row.status === 'in_progress' ? { ...row, leaseUntilMs: 0 } : row));
      },
      async finish(id, attempt, end) {
        const row = running(id, attempt);
        if (row) change(id, end);
        return row !== null;
      },
      async cancel(id, nowMs) {
        const row = find(id);
        if (!row) return 'not_found';
        if (isAnswered(row.status)) return 'already_finished';
        change(id, { status: 'cancelled', endedAtMs: nowMs });
        return 'cancelled';
      },
      async delete(id) {
        const row = find(id);
        rows = rows.filter((each) => each !== row);
        return row ? shown(row) : null;
      },
      countUnfinished: async (account) =>
        rows.filter(
          ({ status, entity, keyId }) =>
            !isAnswered(status) && entity === (account?.entity ?? entity) && keyId === (account?.keyId ?? keyId),
        ).length,
      listBefore: async (createdBeforeMs, limit) =>
        rows
          .filter(({ status, createdAtMs }) => isAnswered(status) && createdAtMs < createdBeforeMs)
          .sort(byTime)
          .slice(0, limit)
          .map(shown),
    },
  };
}
