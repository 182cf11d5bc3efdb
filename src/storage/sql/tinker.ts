// Rows of the Tinker protocol. Every write of a run's worker names its attempt: after its lease was taken over it matches no row.
import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import type { TinkerOperation } from '#domain/tinker';
import type { Slice, Sliced, TinkerStore } from '../tinker-store.ts';
import type { StorageDialect } from './dialect.ts';
import { LEASES_AHEAD_MAX } from './lease.ts';
import type { Tables } from './rows.ts';
import type { TinkerTables } from './tinker-rows.ts';
import * as rows from './tinker-rows.ts';
import { transactionOf } from './transaction.ts';

export function createTinkerStore(db: Kysely<Tables>, { skipLocked }: StorageDialect): TinkerStore {
  const updateClaimed = ({ id, attempt }: { id: string; attempt: number }, on: Kysely<Tables> = db) =>
    on.updateTable('tinker_runs').where('id', '=', id).where('attempt', '=', attempt);

  const findRow = <T extends 'tinker_sessions' | 'tinker_runs' | 'tinker_samplers'>(table: T, id: string) =>
    sql<TinkerTables[T]>`select * from ${sql.table(table)} where id = ${id}`
      .execute(db)
      .then((found) => found.rows[0] ?? null);

  const named = (runId: string, kind: string, name: string) =>
    sql<boolean>`run_id = ${runId} and kind = ${kind} and name = ${name}`;

  return {
    async createSession(session) {
      await db.insertInto('tinker_sessions').values(rows.fromSession(session)).execute();
    },
    async findSession(id) {
      const row = await findRow('tinker_sessions', id);
      return row && rows.toSession(row);
    },
    async touchSession(id, nowMs) {
      await db
        .updateTable('tinker_sessions')
        .set({ seen_at_ms: nowMs })
        .where('id', '=', id)
        .where('seen_at_ms', '<', nowMs)
        .execute();
    },
    async endSession(id, nowMs) {
      await db
        .updateTable('tinker_sessions')
        .set({ ended_at_ms: nowMs })
        .where('id', '=', id)
        .where('ended_at_ms', 'is', null)
        .execute();
    },
    listSessions: (entity, slice) =>
      sliced(db.selectFrom('tinker_sessions').where('entity', '=', entity), slice, rows.toSession),

    async createRun(run) {
      await db
        .insertInto('tinker_runs')
        .values(rows.fromRun(run))
        .onConflict((at) => at.column('id').doNothing())
        .execute();
      return rows.toRun((await findRow('tinker_runs', run.id))!);
    },
    async findRun(id) {
      const row = await findRow('tinker_runs', id);
      return row && rows.toRun(row);
    },
    listRuns(entity, scope, slice) {
      const isPublished = sql<boolean>`id in (select run_id from tinker_checkpoints where published_at_ms is not null)`;
      const isShown = sql<boolean>`(entity = ${entity} ${scope === 'accessible' ? sql`or ${isPublished}` : sql``})`;
      return sliced(db.selectFrom('tinker_runs').where(isShown), slice, rows.toRun);
    },
    async listRunsOf(sessionId) {
      const found = await db
        .selectFrom('tinker_runs')
        .selectAll()
        .where('session_id', '=', sessionId)
        .orderBy('created_at_ms')
        .orderBy('id')
        .execute();
      return found.map(rows.toRun);
    },
    async claimRun(worker, { nowMs, leaseMs, gapMs }, baseModels) {
      if (baseModels.length === 0) return null;
      const next = sql<string>`(
        select run.id from tinker_runs run
         where (run.lease_until_ms <= ${nowMs} or run.lease_until_ms > ${nowMs + LEASES_AHEAD_MAX * leaseMs})
           and run.base_model in (${sql.join([...baseModels])})
           and exists (
             select 1 from tinker_operations first
              where first.run_id = run.id and first.seq = (
                  select min(seq) from tinker_operations where run_id = run.id and status = 'queued')
                and (first.seq = run.done_seq + 1 + (
                    select count(*) from tinker_operations refused
                     where refused.run_id = run.id and refused.status = 'failed'
                       and refused.seq > run.done_seq and refused.seq < first.seq)
                  or exists (
                    select 1 from tinker_operations
                     where run_id = run.id and status = 'queued' and created_at_ms <= ${nowMs - gapMs})))
         order by run.claimed_at_ms, run.id
         limit 1 ${skipLocked})`;
      const row = await db
        .updateTable('tinker_runs')
        .set({
          worker,
          claimed_at_ms: nowMs,
          lease_until_ms: nowMs + leaseMs,
          attempt: sql<number>`attempt + 1`,
          waiting_for: null,
        })
        .where('id', '=', next)
        .returningAll()
        .executeTakeFirst();
      return row ? rows.toRun(row) : null;
    },
    async renewRun(run, leaseUntilMs) {
      const { numUpdatedRows } = await updateClaimed(run).set({ lease_until_ms: leaseUntilMs }).executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async noteWaiting(run, waitingFor) {
      await updateClaimed(run)
        .set({ waiting_for: waitingFor && JSON.stringify(waitingFor) })
        .execute();
    },
    async releaseRuns() {
      await db.updateTable('tinker_runs').set({ lease_until_ms: 0 }).where('lease_until_ms', '>', 0).execute();
    },
    async saveState(run, { stateSeq, stateBlob }) {
      const { numUpdatedRows } = await updateClaimed(run)
        .set({ state_seq: stateSeq, state_blob: stateBlob })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    addOperation: (operation) =>
      transactionOf(db, `tinker run ${operation.runId}`, async (tx) => {
        const inserted = await tx
          .insertInto('tinker_operations')
          .values(rows.fromOperation(operation))
          .onConflict((at) => at.columns(['run_id', 'seq']).doNothing())
          .returningAll()
          .executeTakeFirst();
        if (inserted ?? (operation.status === 'queued' && (await replaceRefused(tx, operation)))) {
          await tx
            .updateTable('tinker_runs')
            .set({ used_at_ms: operation.createdAtMs })
            .where('id', '=', operation.runId)
            .execute();
          return { outcome: 'added' as const, operation };
        }
        const row = await tx
          .selectFrom('tinker_operations')
          .selectAll()
          .where('run_id', '=', operation.runId)
          .where('seq', '=', operation.seq)
          .executeTakeFirstOrThrow();
        return { outcome: 'exists' as const, operation: rows.toOperation(row) };
      }),
    async findOperation(runId, seq) {
      const row = await db
        .selectFrom('tinker_operations')
        .selectAll()
        .where('run_id', '=', runId)
        .where('seq', '=', seq)
        .executeTakeFirst();
      return row ? rows.toOperation(row) : null;
    },
    async listOperations(runId, seq, limit) {
      const found = await db
        .selectFrom('tinker_operations')
        .selectAll()
        .where('run_id', '=', runId)
        .where('seq', '>', seq)
        .orderBy('seq')
        .limit(limit)
        .execute();
      return found.map(rows.toOperation);
    },
    async countQueued(runId) {
      const { count } = await db
        .selectFrom('tinker_operations')
        .select(sql<number>`count(*)`.as('count'))
        .where('run_id', '=', runId)
        .where('status', '=', 'queued')
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    finishOperation: (run, seq, { result, error, category }) =>
      transactionOf(db, `tinker run ${run.id}`, async (tx) => {
        const { numUpdatedRows } = await updateClaimed(run, tx).set({ done_seq: seq }).executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await tx
          .updateTable('tinker_operations')
          .set({ status: error === null ? 'done' : 'failed', result, error, category })
          .where('run_id', '=', run.id)
          .where('seq', '=', seq)
          .execute();
        return true;
      }),
    beginReading: (run, seq) =>
      transactionOf(db, `tinker run ${run.id}`, async (tx) => {
        const { numUpdatedRows } = await updateClaimed(run, tx).set({ attempt: run.attempt }).executeTakeFirst();
        if (numUpdatedRows === 0n) return 0;
        const row = await tx
          .updateTable('tinker_operations')
          .set({ readings: sql<number>`readings + 1` })
          .where('run_id', '=', run.id)
          .where('seq', '=', seq)
          .returning('readings')
          .executeTakeFirst();
        return row?.readings ?? 0;
      }),
    async endReading({ id }, seq) {
      await db
        .updateTable('tinker_operations')
        .set({ readings: 0 })
        .where('run_id', '=', id)
        .where('seq', '=', seq)
        .execute();
    },
    async forgetOperations(runId, beforeSeq) {
      await db.deleteFrom('tinker_operations').where('run_id', '=', runId).where('seq', '<', beforeSeq).execute();
    },

    async createSampler(sampler) {
      await db
        .insertInto('tinker_samplers')
        .values(rows.fromSampler(sampler))
        .onConflict((at) => at.columns(['session_id', 'ordinal']).doNothing())
        .execute();
      const row = await db
        .selectFrom('tinker_samplers')
        .selectAll()
        .where('session_id', '=', sampler.sessionId)
        .where('ordinal', '=', sampler.ordinal)
        .executeTakeFirstOrThrow();
      return rows.toSampler(row);
    },
    async findSampler(id) {
      const row = await findRow('tinker_samplers', id);
      return row && rows.toSampler(row);
    },
    async listSamplersOf(sessionId) {
      const found = await db
        .selectFrom('tinker_samplers')
        .selectAll()
        .where('session_id', '=', sessionId)
        .orderBy('ordinal')
        .execute();
      return found.map(rows.toSampler);
    },
    async deleteSampler(id) {
      await db.deleteFrom('tinker_samplers').where('id', '=', id).execute();
    },

    putCheckpoint: (checkpoint) =>
      transactionOf(db, `tinker run ${checkpoint.runId}`, async (tx) => {
        const { runId, kind, name } = checkpoint;
        const old = await tx
          .deleteFrom('tinker_checkpoints')
          .where(named(runId, kind, name))
          .returningAll()
          .executeTakeFirst();
        await tx.insertInto('tinker_checkpoints').values(rows.fromNamedCheckpoint(checkpoint)).execute();
        return old ? rows.toNamedCheckpoint(old) : null;
      }),
    async findCheckpoint(runId, kind, name) {
      const row = await db
        .selectFrom('tinker_checkpoints')
        .selectAll()
        .where(named(runId, kind, name))
        .executeTakeFirst();
      return row ? rows.toNamedCheckpoint(row) : null;
    },
    listCheckpoints({ entity, runId, isPublished }, slice) {
      let found = db.selectFrom('tinker_checkpoints');
      if (entity !== undefined) found = found.where('entity', '=', entity);
      if (runId !== undefined) found = found.where('run_id', '=', runId);
      if (isPublished) found = found.where('published_at_ms', 'is not', null);
      return sliced(found, slice, rows.toNamedCheckpoint);
    },
    async listExpired(nowMs, limit) {
      const found = await db
        .selectFrom('tinker_checkpoints')
        .selectAll()
        .where('expires_at_ms', '<=', nowMs)
        .orderBy('expires_at_ms')
        .limit(limit)
        .execute();
      return found.map(rows.toNamedCheckpoint);
    },
    async setExpiry({ runId, kind, name }, expiresAtMs) {
      await db
        .updateTable('tinker_checkpoints')
        .set({ expires_at_ms: expiresAtMs })
        .where(named(runId, kind, name))
        .execute();
    },
    async setPublished({ runId, kind, name }, publishedAtMs) {
      await db
        .updateTable('tinker_checkpoints')
        .set({ published_at_ms: publishedAtMs })
        .where(named(runId, kind, name))
        .execute();
    },
    async deleteCheckpoint(runId, kind, name) {
      await db
        .deleteFrom('tinker_checkpoints')
        .where(named(runId, kind, name))
        .execute();
    },
  };
}

type Listed = 'tinker_sessions' | 'tinker_runs' | 'tinker_checkpoints';

/** Newest first. */
async function sliced<T extends Listed, R>(
  query: SelectQueryBuilder<Tables, T, object>,
  { offset, limit }: Slice,
  toDomain: (row: Tables[T]) => R,
): Promise<Sliced<R>> {
  const all = query as unknown as SelectQueryBuilder<Tables, 'tinker_sessions', object>;
  const { count } = await all.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow();
  const found = await all
    .selectAll()
    .orderBy('created_at_ms', 'desc')
    .orderBy(sql`1`, 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { rows: found.map((row) => toDomain(row as unknown as Tables[T])), total: Number(count) };
}

/** Takes the place of one that was refused before its turn. False: there is none. */
async function replaceRefused(tx: Kysely<Tables>, operation: TinkerOperation): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('tinker_operations')
    .set(rows.fromOperation(operation))
    .where('run_id', '=', operation.runId)
    .where('seq', '=', operation.seq)
    .where('status', '=', 'failed')
    .where('seq', '>', (run) => run.selectFrom('tinker_runs').select('done_seq').where('id', '=', operation.runId))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
