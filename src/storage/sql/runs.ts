// Runs. Every change writes the run's row first, so that a concurrent change waits for it and sizes add up.
import { sql, type Kysely, type Transaction } from 'kysely';
import { runRows } from '#domain/blob-names';
import { freshRun, lineBytes, linesOfPage, runBytes, type Run, type RunName } from '#domain/run';
import type { Payer } from '../account-store.ts';
import type { RunStore } from '../run-store.ts';
import { chargeWithin } from './accounts.ts';
import { Refused, unlessRefused } from './refused.ts';
import { containsText, listPage, readFitting, toListing } from './listing.ts';
import { deleteRowsOf, inPieces } from './pieces.ts';
import type { Tables } from './rows.ts';
import { fromAbout, toRun } from './run-rows.ts';
import { ofEntity, orderOf, transactionOf, transactionOfOwner } from './transaction.ts';

const HEAVY = ['config', 'summary', 'notes', 'tags'] as const;

export function createRunStore(db: Kysely<Tables>): RunStore {
  return {
    upsert: (run, change, payer, nowMs) =>
      unlessRefused(
        (outcome: 'over_limit') => ({ outcome }),
        () =>
          transactionOf(db, [ofEntity(run.entity), orderOf('runs')], async (tx) => {
            const { id, entity, project, name } = run;
            const { numInsertedOrUpdatedRows: inserted } = await tx
              .insertInto('runs')
              .values({
                id,
                ordinal: sql<number>`(select coalesce(max(ordinal), 0) + 1 from runs)`,
                entity,
                project,
                name,
                ...fromAbout(freshRun(name)),
                history_lines: 0,
                history_bytes: 0,
                created_at_ms: nowMs,
                updated_at_ms: nowMs,
              })
              .onConflict((conflict) => conflict.columns(['entity', 'project', 'name']).doNothing())
              .executeTakeFirst();
            const row = await named(tx.updateTable('runs').set({ ...fromAbout(change), updated_at_ms: nowMs }), run)
              .returningAll()
              .executeTakeFirstOrThrow();
            const changed = toRun(row);
            await charge(tx, changed, payer);
            return { outcome: inserted === 1n ? ('created' as const) : ('changed' as const), run: changed };
          }),
      ),

    async find(name) {
      const row = await named(db.selectFrom('runs').selectAll(), name).executeTakeFirst();
      return row ? toRun(row) : null;
    },

    list: ({ entity, project, state, search }, page, order = 'asc') =>
      listPage(
        db,
        {
          table: 'runs',
          of: { entity },
          where: { project, state },
          also: search === undefined ? [] : [mentions(search)],
          by: ['ordinal'],
          order,
          heavy: HEAVY,
        },
        page,
        toRun,
      ),

    async countByState({ entity, project, search }) {
      let query = db
        .selectFrom('runs')
        .select((eb) => ['state', eb.fn.countAll<number | string>().as('count')])
        .where('entity', '=', entity)
        .groupBy('state');
      if (project !== undefined) query = query.where('project', '=', project);
      if (search !== undefined) query = query.where(mentions(search));
      return Object.fromEntries((await query.execute()).map(({ state, count }) => [state, Number(count)]));
    },

    async listProjects(entity, { after, limit }) {
      let query = db
        .selectFrom('runs')
        .select((eb) => [
          'project',
          eb.fn.countAll<number | string>().as('runs'),
          sql<number | string>`sum(case when state = 'running' then 1 else 0 end)`.as('running'),
          eb.fn.max('updated_at_ms').as('updated_at_ms'),
        ])
        .where('entity', '=', entity);
      if (after !== null) query = query.where('project', '>', after);
      const rows = await query
        .groupBy('project')
        .orderBy('project')
        .limit(limit + 1)
        .execute();
      return toListing(rows, limit, (row) => ({
        project: row.project,
        runs: Number(row.runs),
        running: Number(row.running),
        updatedAtMs: Number(row.updated_at_ms),
      }));
    },

    append(id, { offset, lines }, change, payer, nowMs) {
      const append = async (tx: Transaction<Tables>) => {
        const end = lines.length === 0 ? 0 : offset + lines.length;
        const row = await tx
          .updateTable('runs')
          .set({ ...fromAbout(change), updated_at_ms: nowMs })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst();
        if (!row) return null;
        const replaced = await replace(tx, id, offset, lines);
        const sizes = {
          history_lines: Math.max(row.history_lines, end),
          history_bytes: row.history_bytes - replaced + lines.reduce((sum, content) => sum + lineBytes(content), 0),
        };
        if (lines.length > 0) await tx.updateTable('runs').set(sizes).where('id', '=', id).execute();
        const run = toRun({ ...row, ...sizes });
        await charge(tx, run, payer);
        return run;
      };
      return unlessRefused(
        (outcome: 'over_limit') => outcome,
        () => transactionOfOwner<Run | null>(db, { table: 'runs', id }, null, append),
      );
    },

    async history(id, from, limit, stride = 1) {
      const all = db.selectFrom('run_history').where('run_id', '=', id).where('line', '>=', from).orderBy('line');
      const after = stride === 1 ? all : all.where(sql<boolean>`line % ${sql.lit(stride)} = 0`);
      const sizes = await after
        .select(['line', sql<number>`length(content)`.as('characters')])
        .limit(limit)
        .execute();
      const fitting = linesOfPage(sizes.map(({ characters }) => Number(characters)));
      if (fitting === 0) return [];
      return after
        .select(['line', 'content'])
        .where('line', '<=', sizes[fitting - 1]!.line)
        .execute();
    },

    async noteArtifact(id, artifactId, how) {
      await db
        .insertInto('run_artifacts')
        .values({ run_id: id, artifact_id: artifactId, how })
        .onConflict((conflict) => conflict.columns(['run_id', 'how', 'artifact_id']).doNothing())
        .execute();
    },

    async artifactsOf(id, how, limit) {
      const rows = await db
        .selectFrom('run_artifacts')
        .select('artifact_id')
        .where('run_id', '=', id)
        .where('how', '=', how)
        .limit(limit)
        .execute();
      return rows.map((row) => row.artifact_id);
    },

    async runsOf(artifactId, how, limit) {
      const all = db
        .selectFrom('run_artifacts')
        .innerJoin('runs', 'runs.id', 'run_artifacts.run_id')
        .where('artifact_id', '=', artifactId)
        .where('how', '=', how)
        .orderBy('runs.ordinal');
      const { rows } = await readFitting(
        HEAVY,
        limit,
        (weight, rowsMax) => all.select(weight.as('weight')).limit(rowsMax).execute(),
        (rowsMax) => all.selectAll('runs').limit(rowsMax).execute(),
      );
      return rows.map(toRun);
    },

    async delete(id) {
      await deleteRowsOf((work) => transactionOfOwner(db, { table: 'runs', id }, [], work), 'run_history', [id]);
      return transactionOfOwner(db, { table: 'runs', id }, false, async (tx) => {
        await tx.deleteFrom('stored_blobs').where('blob', '=', runRows(id)).execute();
        const { numDeletedRows } = await tx.deleteFrom('runs').where('id', '=', id).executeTakeFirst();
        return numDeletedRows > 0n;
      });
    },
  };
}

async function charge(tx: Transaction<Tables>, run: Run, payer: Payer): Promise<void> {
  const rows = { blob: runRows(run.id), entity: run.entity, sizeBytes: runBytes(run) };
  if (!(await chargeWithin(tx, rows, payer))) throw new Refused('over_limit');
}

/** Returns the bytes of the replaced lines. */
async function replace(tx: Transaction<Tables>, id: string, offset: number, lines: readonly string[]): Promise<number> {
  let replaced = 0;
  const rows = lines.map((content, i) => ({ run_id: id, line: offset + i, content }));
  await inPieces(rows, async (some) => {
    const old = await tx
      .deleteFrom('run_history')
      .where('run_id', '=', id)
      .where('line', '>=', some[0]!.line)
      .where('line', '<', some[0]!.line + some.length)
      .returning('content')
      .execute();
    for (const { content } of old) replaced += lineBytes(content);
    await tx.insertInto('run_history').values(some).execute();
    return [];
  });
  return replaced;
}

const mentions = (text: string) =>
  containsText(sql`name || ' ' || display_name || ' ' || coalesce(group_name, '') || ' ' || tags`, text);

/** Accepts any query that has conditions. */
function named<Q extends { where(column: 'entity' | 'project' | 'name', operator: '=', value: string): Q }>(
  query: Q,
  { entity, project, name }: RunName,
): Q {
  return query.where('entity', '=', entity).where('project', '=', project).where('name', '=', name);
}
