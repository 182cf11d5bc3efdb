// Models, and what goes with them when they go.
import { sql, type Kysely } from 'kysely';
import type { ModelStore } from '../storage.ts';
import { toListing } from './listing.ts';
import { fromCheckpoint, toCheckpoint, toModel, type Tables } from './rows.ts';

export function createModelStore(db: Kysely<Tables>): ModelStore {
  return {
    create(model, stepZero) {
      return db.transaction().execute(async (tx) => {
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

    async list({ entity, project, name, baseModel }, { after, limit }) {
      let query = db.selectFrom('models').selectAll().where('entity', '=', entity);
      if (project !== undefined) query = query.where('project', '=', project);
      if (name !== undefined) query = query.where('name', '=', name);
      if (baseModel !== undefined) query = query.where('base_model', '=', baseModel);
      // An unknown cursor compares with null, which is never true: an empty page.
      if (after !== null)
        query = query.where('ordinal', '>', sql<number>`(select ordinal from models where id = ${after})`);
      return toListing(
        await query
          .orderBy('ordinal')
          .limit(limit + 1)
          .execute(),
        limit,
        toModel,
      );
    },

    delete(id) {
      return db.transaction().execute(async (tx) => {
        const checkpoints = await tx
          .selectFrom('checkpoints')
          .selectAll()
          .where('model_id', '=', id)
          .orderBy('step')
          .execute();
        const jobs = await tx.selectFrom('training_jobs').select('body_blob').where('model_id', '=', id).execute();
        const { numDeletedRows } = await tx.deleteFrom('models').where('id', '=', id).executeTakeFirst();
        if (numDeletedRows === 0n) return null;
        return { checkpoints: checkpoints.map(toCheckpoint), bodyBlobs: jobs.map((job) => job.body_blob) };
      });
    },
  };
}
