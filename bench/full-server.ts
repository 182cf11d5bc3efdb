// A server that has been used for long, for benchmarks of its pages: a thousand models, ten thousand jobs, one model with a thousand steps, each
// with the metrics of its gradient steps, and what full-lists.ts adds. The rows are written straight to the database; nothing was computed.
// Its engines are workers, none of which computes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql, Kysely, type RawBuilder } from 'kysely';
import { blobsPath, databasePath } from '#config/data-directory';
import { prepareFilesystemBlobs } from '#storage/blobs/filesystem';
import type { Tables } from '#storage/sql/rows';
import { createSqliteDialect } from '#storage/sql/sqlite-dialect';
import { startServer, type RunningServer } from '../examples/shared/server.ts';
import { connectWorkers, numbers, seedLists } from './full-lists.ts';

export const SIZES = { models: 1_000, jobs: 10_000, steps: 1_009 };

export interface FullServer {
  readonly server: RunningServer;
  /** The model with the most steps. */
  readonly longest: string;
  /** Its newest job, with many gradient steps. */
  readonly job: string;
  close(): Promise<void>;
}

/** Gradient steps of the newest job of the longest model. */
const LONG_JOB_STEPS = 1_000;
const MINUTE_MS = 60_000;

export async function openFullServer(): Promise<FullServer> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-full-'));
  const server = await startServer(directory, ['--worker-model', 'whetstone/starter']); // makes the schema
  const db = new Kysely<Tables>({ dialect: createSqliteDialect(databasePath(directory)).kysely });
  await seed(db, Date.now());
  await seedLists(db, await prepareFilesystemBlobs({ root: blobsPath(directory) }), 'm-1', Date.now());
  await sql`analyze`.execute(db);
  await db.destroy();
  await connectWorkers(server);
  return {
    ...{ server, longest: 'm-1', job: `l-${SIZES.steps - 1}` },
    async close() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function seed(db: Kysely<Tables>, nowMs: number): Promise<void> {
  const { models, jobs, steps } = SIZES;
  const ownSteps = steps - 1; // of the first model; its step 0 is no job's
  const others = jobs - ownSteps;
  const rest = models - 1;
  const ms = (value: number) => sql.lit(value);
  await sql`insert into models (id, ordinal, entity, project, name, base_model, created_at_ms, last_step, active_at_ms)
    select 'm-' || i, ${ms(1_000_000)} + i, 'default', 'project-' || (i % 20), 'model-' || i, 'whetstone/starter',
      ${ms(nowMs)} - i * ${ms(MINUTE_MS)}, ${ms(Math.floor(others / rest))}, ${ms(nowMs)} - i * ${ms(MINUTE_MS)} from ${numbers(models)}`.execute(
    db,
  );
  await sql`update models set last_step = ${ms(ownSteps)} where id = 'm-1'`.execute(db);
  await sql`insert into training_jobs (id, ordinal, type, model_id, entity, status, body_blob, attempt, cancel_requested, step, progress, skipped, created_at_ms, started_at_ms, ended_at_ms)
    select 'j-' || i, ${ms(1_000_000)} + i, case when i % 7 = 0 then 'sft' else 'rl' end, 'm-' || (2 + i % ${ms(rest)}), 'default', 'succeeded',
      '', 1, 0, 1 + (i - 1) / ${ms(rest)}, 1, case when i % 5 = 0 then '{"equal_rewards":4}' else '{}' end, ${ms(nowMs)} - (${ms(others)} - i) * ${ms(MINUTE_MS)},
      ${ms(nowMs)} - (${ms(others)} - i) * ${ms(MINUTE_MS)}, ${ms(nowMs)} - (${ms(others)} - i) * ${ms(MINUTE_MS)} + 40000 from ${numbers(others)}`.execute(
    db,
  );
  await sql`insert into training_jobs (id, ordinal, type, model_id, entity, status, body_blob, attempt, cancel_requested, step, progress, skipped, created_at_ms, started_at_ms, ended_at_ms)
    select 'l-' || i, ${ms(2_000_000)} + i, case when i < 20 then 'sft' else 'rl' end, 'm-1', 'default', 'succeeded', '', 1, 0, i, 1, '{}',
      ${ms(nowMs)} - (${ms(steps)} - i) * ${ms(MINUTE_MS)}, ${ms(nowMs)} - (${ms(steps)} - i) * ${ms(MINUTE_MS)},
      ${ms(nowMs)} - (${ms(steps)} - i) * ${ms(MINUTE_MS)} + 30000 + (i * 7919) % 20000 from ${numbers(ownSteps)}`.execute(
    db,
  );
  await sql`insert into checkpoints (id, model_id, step, metrics, blob_prefix, created_at_ms)
    select 'c-' || id, model_id, step, ${checkpointMetrics}, 'checkpoints/' || model_id || '/' || id, ended_at_ms from training_jobs`.execute(
    db,
  );
  await sql`insert into checkpoints (id, model_id, step, metrics, blob_prefix, created_at_ms, fresh)
    select 'c-' || id, id, 0, '{}', 'checkpoints/' || id || '/0', created_at_ms, 1 from models`.execute(db);
  await sql`insert into training_events (id, job_id, ordinal, part, type, data, created_at_ms)
    select 'e-' || id, id, 0, 0, 'gradient_step', ${eventData(sql`step`, sql`1`)}, ended_at_ms from training_jobs where id <> ${sql.lit(`l-${ownSteps}`)}`.execute(
    db,
  );
  await sql`insert into training_events (id, job_id, ordinal, part, type, data, created_at_ms)
    select 'el-' || i, ${sql.lit(`l-${ownSteps}`)}, i - 1, 0, 'gradient_step', ${eventData(sql`i`, sql`i`)}, ${ms(nowMs)} from ${numbers(LONG_JOB_STEPS)} cross join (select 'rl' as type) as t`.execute(
    db,
  );
}

/** A curve with noise, by step: rises to 1. */
const rising = sql`1 - 1.0 / (1 + step / 120.0) + ((step * 7919) % 97) / 900.0`;
const checkpointMetrics = sql`case when type = 'rl'
  then json_object('train/reward', ${rising}, 'train/reward_std_dev', 0.4, 'val/reward', ${rising} - 0.1)
  else json_object('train/loss', 2.0 / (1 + step)) end`;
const eventData = (x: RawBuilder<unknown>, gradientStep: RawBuilder<unknown>) => sql`case when type = 'sft'
  then json_object('gradient_step', ${gradientStep}, 'loss', 2.0 / (1 + ${x}), 'grad_norm', 0.5, 'learning_rate', 0.0006, 'epoch', 1, 'num_tokens', 2048)
  else json_object('gradient_step', ${gradientStep}, 'reward', 1 - 1.0 / (1 + ${x} / 120.0), 'loss', ((${x} * 31) % 17 - 8) / 400.0,
    'entropy', 1.0 / (1 + ${x} / 300.0), 'kl_div', ${x} / 50000.0, 'grad_norm', 0.1 + ((${x} * 13) % 29) / 300.0, 'learning_rate', 0.00006,
    'ratio_mean', 1, 'ratio_max', 1.2 + ((${x} * 11) % 13) / 50.0, 'clipped_fraction', 0.01, 'num_trajectories', 64, 'num_datums', 64,
    'num_groups_submitted', 8, 'num_groups_trainable', 7, 'num_sequences_in_row', 8, 'num_tokens', 4096, 'num_trained_tokens', 1024, 'tokens_per_second', 900.0) end`;
