// Models, and the rows that are deleted with them.
import { sql, type Kysely } from 'kysely';
import type { SavePolicy } from '#domain/save-policy';
import type { ModelStore } from '../storage.ts';
import { IS_NOT_IN_TRAINING, removeEpisodesOf, UNFINISHED } from './episodes-of-jobs.ts';
import { containsText, listPage, toListing } from './listing.ts';
import { deleteRows, deleteRowsOf, inside, type Within } from './pieces.ts';
import { fromCheckpoint, toCheckpoint, toLabels, toModel, type Tables } from './rows.ts';
import { ofEntity, orderOf, transactionOf } from './transaction.ts';

export function createModelStore(db: Kysely<Tables>): ModelStore {
  return {
    create(model, stepZero, savePolicy = null) {
      return transactionOf(db, [ofEntity(model.entity), orderOf('models')], async (tx) => {
        const existing = await tx
          .selectFrom('models')
          .selectAll()
          .where('entity', '=', model.entity)
          .where('project', '=', model.project)
          .where('name', '=', model.name)
          .executeTakeFirst();
        if (existing) return { outcome: 'exists' as const, model: toModel(existing) };
        await tx
          .insertInto('models')
          .values({
            id: model.id,
            ordinal: sql<number>`(select coalesce(max(ordinal), 0) + 1 from models)`,
            entity: model.entity,
            project: model.project,
            name: model.name,
            base_model: model.baseModel,
            run_id: model.runId,
            created_at_ms: model.createdAtMs,
            last_step: stepZero.step,
            active_at_ms: model.createdAtMs,
            save_policy: savePolicy && JSON.stringify(savePolicy),
          })
          .execute();
        await tx.insertInto('checkpoints').values(fromCheckpoint(stepZero)).execute();
        return { outcome: 'created' as const, model };
      });
    },

    async find(id) {
      const row = await db.selectFrom('models').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? toModel(row) : null;
    },

    async findSavePolicy(id) {
      const row = await db.selectFrom('models').select('save_policy').where('id', '=', id).executeTakeFirst();
      return row?.save_policy ? (JSON.parse(row.save_policy) as SavePolicy) : null;
    },

    async setSavePolicy(id, policy) {
      const save_policy = policy && JSON.stringify(policy);
      await db.updateTable('models').set({ save_policy }).where('id', '=', id).execute();
    },

    async findByName(entity, project, name) {
      const row = await db
        .selectFrom('models')
        .selectAll()
        .where('entity', '=', entity)
        .where('project', '=', project)
        .where('name', '=', name)
        .executeTakeFirst();
      return row ? toModel(row) : null;
    },

    async listLabels(ids) {
      if (ids.length === 0) return new Map();
      const rows = await db
        .selectFrom('models')
        .select(['id', 'tags', 'note', 'archived_at_ms'])
        .where('id', 'in', ids)
        .execute();
      return new Map(rows.map((row) => [row.id, toLabels(row)]));
    },

    async setLabels(id, { tags, note, archivedAtMs }) {
      const changed = {
        ...(tags === undefined ? {} : { tags: JSON.stringify(tags) }),
        ...(note === undefined ? {} : { note }),
        ...(archivedAtMs === undefined ? {} : { archived_at_ms: archivedAtMs }),
      };
      if (Object.keys(changed).length === 0) return;
      await db.updateTable('models').set(changed).where('id', '=', id).execute();
    },

    async listProjects(entity, { after, limit }) {
      const { rows } = await sql<{ project: string; models: number; archived: number; active_at_ms: number }>`
        select project, count(*) - count(archived_at_ms) as models, count(archived_at_ms) as archived,
               max(active_at_ms) as active_at_ms
          from models
         where entity = ${entity} ${after === null ? sql`` : sql`and project > ${after}`}
         group by project order by project limit ${limit + 1}`.execute(db);
      return toListing(rows, limit, (row) => ({
        project: row.project,
        modelCount: Number(row.models),
        archivedCount: Number(row.archived),
        activeAtMs: Number(row.active_at_ms),
      }));
    },

    list: ({ entity, project, name, baseModel, baseModels, search, tag, archived }, page, order = 'asc') =>
      listPage(
        db,
        {
          table: 'models',
          of: { entity },
          where: { project, name, base_model: baseModel },
          also: [
            ...(baseModels === undefined ? [] : [isOver(baseModels)]),
            ...(search === undefined ? [] : [nameContains(search)]),
            ...(tag === undefined ? [] : [hasTag(tag)]),
            ...(archived === undefined ? [] : [archived === 'only' ? IS_ARCHIVED : IS_NOT_ARCHIVED]),
          ],
          by: order === 'latest' ? ['entity', 'active_at_ms', 'ordinal'] : ['ordinal'],
          order: order === 'asc' ? 'asc' : 'desc',
          heavy: ['tags', 'note', 'save_policy'],
        },
        page,
        toModel,
      ),

    async delete(id) {
      const model = await db.selectFrom('models').select('entity').where('id', '=', id).executeTakeFirst();
      if (!model) return null;
      const endedBlobs = await deleteEnded(db, ofEntity(model.entity), id);
      const writing = await db.selectFrom('training_jobs').select('id').where('model_id', '=', id).execute();
      const runs = await db.selectFrom('tinker_runs').select('id').where('model_id', '=', id).execute();
      const objects = [...writing.map((job) => `job ${job.id}`), ...runs.map((run) => `tinker run ${run.id}`)];
      return transactionOf(db, [ofEntity(model.entity), ...objects], async (tx) => {
        const checkpoints = await tx
          .selectFrom('checkpoints')
          .selectAll()
          .where('model_id', '=', id)
          .orderBy('step')
          .execute();
        const jobs = await tx
          .selectFrom('training_jobs')
          .select(['id', 'body_blob'])
          .where('model_id', '=', id)
          .execute();
        await removeEpisodesOf(inside(tx), id);
        await deleteRowsOf(
          inside(tx),
          'training_events',
          jobs.map((job) => job.id),
        );
        await deleteRowsOf(
          inside(tx),
          'tinker_operations',
          runs.map((run) => run.id),
        );
        await tx.deleteFrom('models').where('id', '=', id).execute();
        return {
          checkpoints: checkpoints.map(toCheckpoint),
          bodyBlobs: [...endedBlobs, ...jobs.map((job) => job.body_blob)].filter((blob) => blob !== ''),
        };
      });
    },
  };
}

/** What nobody works on any more: it may be much, and what is left of the model has a meaning without it. Returns bodies of jobs. */
async function deleteEnded(db: Kysely<Tables>, entity: string, id: string): Promise<readonly string[]> {
  const within: Within = (work) => transactionOf(db, entity, work);
  await removeEpisodesOf(within, id, IS_NOT_IN_TRAINING);
  await deleteRowsOf(within, 'trajectory_logs', [id]);
  const isEnded = sql`model_id = ${id} and status not in (${sql.join(UNFINISHED)})`;
  const ended = sql<{ id: string }>`select id from training_jobs where ${isEnded}`;
  await deleteRowsOf(
    within,
    'training_events',
    (await ended.execute(db)).rows.map((job) => job.id),
  );
  return deleteRows<string>(within, 'training_jobs', isEnded, 'body_blob');
}

const isOver = (ids: readonly string[]) => (ids.length === 0 ? sql`false` : sql`base_model in (${sql.join(ids)})`);

const IS_ARCHIVED = sql`archived_at_ms is not null`;
const IS_NOT_ARCHIVED = sql`archived_at_ms is null`;

/** With its quotes, so that it is the whole tag. `like` would ignore the case in SQLite, and not in Postgres. */
const hasTag = (tag: string) => sql`replace(tags, ${JSON.stringify(tag)}, '') <> tags`;

/** `%` and `_` are taken literally. */
export const nameContains = (text: string) => containsText(sql`project || '/' || name`, text);

/** Within the transaction that creates or ends a job of the model. */
export async function noteActivity(tx: Kysely<Tables>, modelId: string, atMs: number): Promise<void> {
  await tx
    .updateTable('models')
    .set({ active_at_ms: atMs })
    .where('id', '=', modelId)
    .where('active_at_ms', '<', atMs)
    .execute();
}
