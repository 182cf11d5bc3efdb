// `npm run bench -- overview`: what the dashboard's first page costs with 1,000 models and 100,000 jobs of one team next to as many of another,
// on SQLite and, if this machine has it, on Postgres. Also prints the plans of its queries.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql, type RawBuilder } from 'kysely';
import { silentLog } from '#base/log';
import type { Caller } from '#domain/caller';
import { createUsage } from '#services/accounts/usage';
import { createOverviews } from '#services/overview';
import type { StorageDialect } from '#storage/sql/dialect';
import { createPostgresDialect } from '#storage/sql/postgres-dialect';
import { openSqlStorage } from '#storage/sql/sql-storage';
import { createSqliteDialect } from '#storage/sql/sqlite-dialect';
import { startPostgres } from '../test/support/postgres/postgres-server.ts';
import { quantiles } from './quantiles.ts';

const TEAMS = ['a', 'b'];
const MODELS = 1_000; // of each team
const JOBS = 100_000;
const STEPS = JOBS / MODELS;
const ROUNDS = 50;
const METRICS = JSON.stringify(
  Object.fromEntries(Array.from({ length: 20 }, (_, i) => [i ? `train/m${i}` : 'train/reward', 0.123456789])),
);

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Numbers from 1 on, which both databases can generate. */
const numbers = (count: number): RawBuilder<unknown> =>
  sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)}) select i from n) as n`;

async function seed(db: Kysely<unknown>): Promise<void> {
  for (const [at, team] of TEAMS.entries()) {
    const first = sql.lit(at * JOBS);
    const t = sql.lit(team);
    await sql`insert into models (id, ordinal, entity, project, name, base_model, created_at_ms, last_step)
      select ${t} || '-m-' || i, ${first} + i, ${t}, 'p', 'model-' || i, 'base', 0, ${sql.lit(STEPS)} from ${numbers(MODELS)}`.execute(
      db,
    );
    await sql`insert into training_jobs (id, ordinal, type, model_id, entity, status, body_blob, attempt, cancel_requested, step, progress, skipped, created_at_ms, started_at_ms, ended_at_ms)
      select ${t} || '-j-' || i, ${first} + i, 'rl', ${t} || '-m-' || (1 + i % ${sql.lit(MODELS)}), ${t},
        case when i > ${sql.lit(JOBS - 8)} then 'queued' when i > ${sql.lit(JOBS - 16)} then 'running' else 'succeeded' end,
        '', 1, 0, i / ${sql.lit(MODELS)}, 0.5, '{}', 0, 0, 0 from ${numbers(JOBS)}`.execute(db);
    await sql`insert into checkpoints (id, model_id, step, metrics, blob_prefix, created_at_ms)
      select ${t} || '-c-' || i, ${t} || '-m-' || (1 + i % ${sql.lit(MODELS)}), 1 + (i - 1) / ${sql.lit(MODELS)}, ${sql.lit(METRICS)}, '', 0 from ${numbers(JOBS)}`.execute(
      db,
    );
  }
  await sql`analyze`.execute(db);
}

const PLANS: Readonly<Record<string, RawBuilder<unknown>>> = {
  running: sql`select * from training_jobs where entity between 'a' and 'a' and status between 'running' and 'running' order by entity, status, ordinal limit 51`,
  newest: sql`select * from training_jobs where entity between 'a' and 'a' order by entity desc, ordinal desc limit 11`,
  'queued count': sql`select count(*) from training_jobs where status = 'queued' and entity = 'a'`,
  models: sql`select * from models where entity = 'a' order by ordinal desc limit 51`,
  'jobs of a model': sql`select * from training_jobs where entity = 'a' and model_id between 'a-m-7' and 'a-m-7' order by model_id desc, ordinal desc limit 51`,
};

async function measure(name: string, open: () => StorageDialect, explain: RawBuilder<unknown>): Promise<void> {
  const storage = await openSqlStorage(open(), name, silentLog);
  const db = new Kysely<unknown>({ dialect: open().kysely });
  const usage = createUsage({ storage: storage.usage, log: silentLog });
  await seed(db);
  for (const [title, query] of Object.entries(PLANS)) {
    const { rows } = await sql<Record<string, string>>`${explain} ${query}`.execute(db);
    say(`${name}, ${title}: ${rows.map((row) => row['detail'] ?? row['QUERY PLAN']).join(' | ')}`);
  }
  const overviews = createOverviews({ storage, usage, clock: { now: Date.now } });
  const caller: Caller = { entity: 'a', keyId: '', scopes: ['read'], limits: {} };
  for (const [title, ask] of [
    ['overview', () => overviews.read(caller)],
    ['50 models in short', () => overviews.listModels(caller, {}, { after: null, limit: 50 })],
  ] as const) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const startMs = performance.now();
      await ask();
      times.push(performance.now() - startMs);
    }
    say(`${name}, ${title}, ms: ${JSON.stringify(quantiles(times))}`);
  }
  await usage.close();
  await db.destroy();
  await storage.close();
}

const directory = await mkdtemp(join(tmpdir(), 'whetstone-overview-'));
const path = join(directory, 'rows.db');
await measure('SQLite', () => createSqliteDialect(path), sql`explain query plan`);
const postgres = await startPostgres();
if (postgres) {
  const url = await postgres.createDatabase();
  await measure('Postgres', () => createPostgresDialect(url), sql`explain`);
  await postgres.stop();
}
await rm(directory, { recursive: true, force: true });
