// Stored responses, and the right to answer background responses. Every write of a worker names its attempt: after its
// lease was taken over it matches no row.
import { sql, type Kysely } from 'kysely';
import type { ResponseStore } from '../response-store.ts';
import type { StorageDialect } from './dialect.ts';
import { hasLapsed, leasedTo } from './lease.ts';
import { fromResponse, toResponse } from './response-rows.ts';
import type { Tables } from './rows.ts';

export function createResponseStore(db: Kysely<Tables>, { skipLocked }: StorageDialect): ResponseStore {
  const running = (id: string, attempt: number) =>
    db.updateTable('responses').where('id', '=', id).where('attempt', '=', attempt).where('status', '=', 'in_progress');

  return {
    async create(response) {
      await db
        .insertInto('responses')
        .values(fromResponse(response))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    },

    async find(id) {
      const row = await db.selectFrom('responses').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? toResponse(row) : null;
    },

    async claim(worker, nowMs, leaseMs, baseModels) {
      if (baseModels.length === 0) return null;
      const next = sql<string>`(
        select each.id from responses each
         where each.ended_at_ms is null
           and each.base_model in (${sql.join([...baseModels])})
           and (each.status = 'queued' or ${hasLapsed('each.lease_until_ms', nowMs, leaseMs)})
         order by (select coalesce(max(other.claimed_at_ms), 0) from responses other where other.entity = each.entity),
                  each.created_at_ms, each.id
         limit 1 ${skipLocked})`;
      const row = await db
        .updateTable('responses')
        .set({ ...leasedTo(worker, nowMs, leaseMs), status: 'in_progress', claimed_at_ms: nowMs })
        .where('id', '=', next)
        .where('ended_at_ms', 'is', null)
        .returningAll()
        .executeTakeFirst();
      return row ? toResponse(row) : null;
    },

    async renewLease(id, attempt, leaseUntilMs) {
      const { numUpdatedRows } = await running(id, attempt).set({ lease_until_ms: leaseUntilMs }).executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async release(id, attempt) {
      await running(id, attempt)
        .set({ status: 'queued', attempt: attempt - 1, worker: null, lease_until_ms: null })
        .execute();
    },

    async releaseLeases() {
      await db.updateTable('responses').set({ lease_until_ms: 0 }).where('status', '=', 'in_progress').execute();
    },

    async finish(id, attempt, { status, blob, error, endedAtMs }) {
      const { numUpdatedRows } = await running(id, attempt)
        .set({
          status,
          blob,
          error_code: error?.code ?? null,
          error_message: error?.message ?? null,
          ended_at_ms: endedAtMs,
          lease_until_ms: null,
        })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async cancel(id, nowMs) {
      const { numUpdatedRows } = await db
        .updateTable('responses')
        .set({ status: 'cancelled', ended_at_ms: nowMs, lease_until_ms: null })
        .where('id', '=', id)
        .where('ended_at_ms', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows > 0n) return 'cancelled';
      const row = await db.selectFrom('responses').select('id').where('id', '=', id).executeTakeFirst();
      return row ? 'already_finished' : 'not_found';
    },

    async delete(id) {
      const row = await db.deleteFrom('responses').where('id', '=', id).returningAll().executeTakeFirst();
      return row ? toResponse(row) : null;
    },

    async countUnfinished(account) {
      let query = db
        .selectFrom('responses')
        .select((eb) => eb.fn.countAll<number | string>().as('count'))
        .where('ended_at_ms', 'is', null);
      if (account) query = query.where('entity', '=', account.entity);
      if (account && account.keyId !== null) query = query.where('key_id', '=', account.keyId);
      return Number((await query.executeTakeFirstOrThrow()).count);
    },

    async listBefore(createdBeforeMs, limit) {
      const rows = await db
        .selectFrom('responses')
        .selectAll()
        .where('ended_at_ms', 'is not', null)
        .where('created_at_ms', '<', createdBeforeMs)
        .orderBy('created_at_ms')
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map(toResponse);
    },
  };
}
