// Operations on Tinker's training runs: numbered, executed once each, and their results until the client has read them.
import { sql, type Kysely } from 'kysely';
import type { TinkerOperation } from '#domain/tinker';
import type { TinkerStore } from '../tinker-store.ts';
import type { Tables } from './rows.ts';
import * as rows from './tinker-rows.ts';
import { updateClaimed } from './tinker-runs.ts';
import { transactionOf } from './transaction.ts';

export const operationsOfTinker = (
  db: Kysely<Tables>,
): Pick<
  TinkerStore,
  | 'addOperation'
  | 'findOperation'
  | 'listOperations'
  | 'countQueued'
  | 'finishOperation'
  | 'beginReading'
  | 'endReading'
  | 'forgetOperations'
> => ({
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
      const { numUpdatedRows } = await updateClaimed(tx, run).set({ done_seq: seq }).executeTakeFirst();
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
      const { numUpdatedRows } = await updateClaimed(tx, run).set({ attempt: run.attempt }).executeTakeFirst();
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
});

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
