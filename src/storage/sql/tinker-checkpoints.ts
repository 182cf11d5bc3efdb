// Saved weights of Tinker's training runs, by run, kind and name.
import { sql, type Kysely } from 'kysely';
import type { TinkerCheckpoint } from '#domain/tinker';
import type { TinkerStore } from '../tinker-store.ts';
import type { Tables } from './rows.ts';
import { sliced } from './tinker-lists.ts';
import * as rows from './tinker-rows.ts';
import type { TinkerTables } from './tinker-rows.ts';
import { transactionOf } from './transaction.ts';

const named = (runId: string, kind: string, name: string) =>
  sql<boolean>`run_id = ${runId} and kind = ${kind} and name = ${name}`;

/** Each save under a name is a step of its own. */
const same = ({ runId, kind, name, step }: TinkerCheckpoint) =>
  sql<boolean>`${named(runId, kind, name)} and step = ${step}`;

export const checkpointsOfTinker = (
  db: Kysely<Tables>,
): Pick<
  TinkerStore,
  | 'putCheckpoint'
  | 'findCheckpoint'
  | 'listCheckpoints'
  | 'listNewestCheckpoints'
  | 'listExpired'
  | 'setExpiry'
  | 'setPublished'
  | 'deleteCheckpoint'
> => ({
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
    return sliced(found, ['run_id', 'kind', 'name'], slice, rows.toNamedCheckpoint);
  },
  async listNewestCheckpoints(entity, runIds) {
    if (runIds.length === 0) return [];
    const { rows: found } = await sql<TinkerTables['tinker_checkpoints']>`
      select each.*
        from (select run_id, kind, name,
                     row_number() over (partition by run_id, kind order by created_at_ms desc, name desc) as place
                from tinker_checkpoints
               where run_id in (${sql.join([...runIds])})
                 and (entity = ${entity} or published_at_ms is not null)) placed
        join tinker_checkpoints each
          on each.run_id = placed.run_id and each.kind = placed.kind and each.name = placed.name
       where placed.place = 1`.execute(db);
    return found.map(rows.toNamedCheckpoint);
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
  async setExpiry(checkpoint, expiresAtMs) {
    await db.updateTable('tinker_checkpoints').set({ expires_at_ms: expiresAtMs }).where(same(checkpoint)).execute();
  },
  async setPublished(checkpoint, publishedAtMs) {
    await db
      .updateTable('tinker_checkpoints')
      .set({ published_at_ms: publishedAtMs })
      .where(same(checkpoint))
      .execute();
  },
  async deleteCheckpoint(checkpoint) {
    await db.deleteFrom('tinker_checkpoints').where(same(checkpoint)).execute();
  },
});
