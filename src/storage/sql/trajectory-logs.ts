// Trajectories logged for models, by time.
import type { Kysely, Selectable } from 'kysely';
import type { TrajectoryLog } from '#domain/trajectory-log';
import type { TrajectoryLogStore } from '../trajectory-log-store.ts';
import { listPage } from './listing.ts';
import type { Tables, TrajectoryLogTable } from './rows.ts';

export function createTrajectoryLogStore(db: Kysely<Tables>): TrajectoryLogStore {
  return {
    async create(log) {
      const row: TrajectoryLogTable = {
        id: log.id,
        model_id: log.modelId,
        split: log.split,
        step: log.step,
        blob: log.blob,
        group_count: log.groupCount,
        trajectory_count: log.trajectoryCount,
        size_bytes: log.sizeBytes,
        created_at_ms: log.createdAtMs,
        evaluation_job_id: log.evaluationJobId,
      };
      await db
        .insertInto('trajectory_logs')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    },

    async find(id) {
      const row = await db.selectFrom('trajectory_logs').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? toLog(row) : null;
    },

    list: ({ modelId, split, step }, page) =>
      listPage(
        db,
        {
          table: 'trajectory_logs',
          of: { model_id: modelId },
          where: { split, step },
          by: ['created_at_ms', 'id'],
          order: 'asc',
          heavy: [],
        },
        page,
        toLog,
      ),

    async findOfEvaluation(jobId) {
      const row = await db
        .selectFrom('trajectory_logs')
        .selectAll()
        .where('evaluation_job_id', '=', jobId)
        .orderBy('created_at_ms', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ? toLog(row) : null;
    },

    async listBefore(createdBeforeMs, limit) {
      const rows = await db
        .selectFrom('trajectory_logs')
        .selectAll()
        .where('created_at_ms', '<', createdBeforeMs)
        .orderBy('created_at_ms')
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map(toLog);
    },

    async delete(id) {
      await db.deleteFrom('trajectory_logs').where('id', '=', id).execute();
    },
  };
}

const toLog = (row: Selectable<TrajectoryLogTable>): TrajectoryLog => ({
  id: row.id,
  modelId: row.model_id,
  split: row.split,
  step: row.step,
  blob: row.blob,
  groupCount: row.group_count,
  trajectoryCount: row.trajectory_count,
  sizeBytes: row.size_bytes,
  createdAtMs: row.created_at_ms,
  evaluationJobId: row.evaluation_job_id,
});
