// Training runs of Tinker and the right to work on one. Every write of a run's worker names its attempt: after its lease was taken over it
// matches no row.
import { sql, type Kysely } from 'kysely';
import type { TinkerStore } from '../tinker-store.ts';
import type { StorageDialect } from './dialect.ts';
import { hasLapsed, leasedTo } from './lease.ts';
import type { Tables } from './rows.ts';
import { findRow, sliced } from './tinker-lists.ts';
import * as rows from './tinker-rows.ts';

interface Claimed {
  readonly id: string;
  readonly attempt: number;
}

export const updateClaimed = (db: Kysely<Tables>, { id, attempt }: Claimed) =>
  db.updateTable('tinker_runs').where('id', '=', id).where('attempt', '=', attempt);

export const runsOfTinker = (
  db: Kysely<Tables>,
  { skipLocked }: StorageDialect,
): Pick<
  TinkerStore,
  | 'createRun'
  | 'findRun'
  | 'listRuns'
  | 'listRunIdsOf'
  | 'claimRun'
  | 'renewRun'
  | 'noteWaiting'
  | 'releaseRuns'
  | 'saveState'
> => ({
  async createRun(run) {
    await db
      .insertInto('tinker_runs')
      .values(rows.fromRun(run))
      .onConflict((at) => at.column('id').doNothing())
      .execute();
    return rows.toRun((await findRow(db, 'tinker_runs', run.id))!);
  },
  async findRun(id) {
    const row = await findRow(db, 'tinker_runs', id);
    return row && rows.toRun(row);
  },
  listRuns(entity, scope, slice) {
    const isPublished = sql<boolean>`id in (select run_id from tinker_checkpoints where published_at_ms is not null)`;
    const isShown = sql<boolean>`(entity = ${entity} ${scope === 'accessible' ? sql`or ${isPublished}` : sql``})`;
    return sliced(db.selectFrom('tinker_runs').where(isShown), ['id'], slice, rows.toRun);
  },
  async listRunIdsOf(sessionId) {
    const found = await db
      .selectFrom('tinker_runs')
      .select('id')
      .where('session_id', '=', sessionId)
      .orderBy('created_at_ms')
      .orderBy('id')
      .execute();
    return found.map(({ id }) => id);
  },
  async claimRun(worker, { nowMs, leaseMs, gapMs }, baseModels) {
    if (baseModels.length === 0) return null;
    const next = sql<string>`(
      select run.id from tinker_runs run
       where ${hasLapsed('run.lease_until_ms', nowMs, leaseMs)}
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
      .set({ ...leasedTo(worker, nowMs, leaseMs), claimed_at_ms: nowMs, waiting_for: null })
      .where('id', '=', next)
      .returningAll()
      .executeTakeFirst();
    return row ? rows.toRun(row) : null;
  },
  async renewRun(run, leaseUntilMs) {
    const { numUpdatedRows } = await updateClaimed(db, run).set({ lease_until_ms: leaseUntilMs }).executeTakeFirst();
    return numUpdatedRows > 0n;
  },
  async noteWaiting(run, waitingFor) {
    await updateClaimed(db, run)
      .set({ waiting_for: waitingFor && JSON.stringify(waitingFor) })
      .execute();
  },
  async releaseRuns() {
    await db.updateTable('tinker_runs').set({ lease_until_ms: 0 }).where('lease_until_ms', '>', 0).execute();
  },
  async saveState(run, { stateSeq, stateBlob }) {
    const { numUpdatedRows } = await updateClaimed(db, run)
      .set({ state_seq: stateSeq, state_blob: stateBlob })
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  },
});
