// Copies every row of one database unchanged into another: reads a snapshot page by page and writes it in one transaction, so
// that the copy is consistent and either complete or absent. Each side may be SQLite or Postgres. Does not interpret rows.
import { Kysely, sql, type Transaction } from 'kysely';
import { AppError } from '#domain/errors';
import type { StorageDialect } from './dialect.ts';
import { migrate, readSchemaVersion, SCHEMA_VERSION } from './migrate.ts';
import type { Tables } from './rows.ts';

/** Primary keys; each table comes after the tables that it refers to. */
const KEYS: { readonly [T in keyof Tables]: readonly (string & keyof Tables[T])[] } = {
  api_keys: ['id'],
  entity_limits: ['entity'],
  models: ['id'],
  checkpoints: ['id'],
  trajectory_logs: ['id'],
  training_jobs: ['id'],
  training_events: ['id'],
  evaluations: ['job_id'],
  episodes: ['id'],
  episode_calls: ['id'],
  online_training: ['model_id'],
  responses: ['id'],
  artifact_contents: ['entity', 'sha256'],
  artifacts: ['id'],
  artifact_files: ['artifact_id', 'path'],
  artifact_aliases: ['entity', 'project', 'name', 'alias'],
  artifact_drafts: ['id'],
  runs: ['id'],
  run_history: ['run_id', 'line'],
  run_artifacts: ['run_id', 'how', 'artifact_id'],
  stored_blobs: ['blob'],
  webhooks: ['id'],
  webhook_deliveries: ['id'],
  tinker_sessions: ['id'],
  tinker_runs: ['id'],
  tinker_operations: ['run_id', 'seq'],
  tinker_samplers: ['id'],
  tinker_checkpoints: ['run_id', 'kind', 'name'],
  idempotency_keys: ['key'],
  usage: ['id'],
};

const TABLES = Object.keys(KEYS) as (keyof Tables)[];

/** Rows per query: 20 columns of them stay below the 32 766 parameters of SQLite. */
const PAGE = 500;
/** Calls have megabytes. */
const pageOf = (table: keyof Tables): number => (table === 'episode_calls' ? 20 : PAGE);

export interface Database {
  readonly dialect: StorageDialect;
  /** The name in error messages. */
  readonly place: string;
}

export interface CopyOptions {
  /** No server has run anything in the copy yet: jobs have no owner and no attempts, requests are not in progress. */
  readonly begins: boolean;
}

type Row = Readonly<Record<string, unknown>>;

/** Closes both. Throws `invalid_request` if the source has another version, or the target has rows. Returns the number of rows. */
export async function copyRows(source: Database, target: Database, { begins }: CopyOptions): Promise<number> {
  const [from, to] = [source, target].map(({ dialect }) => new Kysely<Tables>({ dialect: dialect.kysely }));
  try {
    await requireVersion(from!, source.place);
    await migrate(to!, target.place);
    return await to!.transaction().execute(async (tx) => {
      if (!(await isEmpty(tx))) throw new AppError('invalid_request', `The database ${target.place} is not empty.`);
      const rows = await from!.connection().execute((connection) => copyAll(connection, source.dialect, tx));
      if (begins) await beginAnew(tx);
      return rows;
    });
  } finally {
    await from!.destroy();
    await to!.destroy();
  }
}

/** Also works for a database without a schema. Closes it. */
export async function hasRows({ dialect }: Database): Promise<boolean> {
  const db = new Kysely<Tables>({ dialect: dialect.kysely });
  try {
    return (await readSchemaVersion(db)) > 0 && !(await isEmpty(db));
  } finally {
    await db.destroy();
  }
}

async function requireVersion(db: Kysely<Tables>, place: string): Promise<void> {
  const version = await readSchemaVersion(db);
  if (version === SCHEMA_VERSION) return;
  const todo =
    version < SCHEMA_VERSION
      ? 'Run `whetstone migrate` first, with its server stopped.'
      : 'Use the newer whetstone that wrote it.';
  throw new AppError(
    'invalid_request',
    `The database ${place} has schema version ${version}, this whetstone has ${SCHEMA_VERSION}. ${todo}`,
  );
}

async function isEmpty(db: Kysely<Tables>): Promise<boolean> {
  for (const table of TABLES) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db);
    if (rows.length > 0) return false;
  }
  return true;
}

async function copyAll(from: Kysely<Tables>, { beginSnapshot }: StorageDialect, to: Transaction<Tables>) {
  let copied = 0;
  await beginSnapshot.execute(from);
  try {
    for (const table of TABLES) {
      for (let last: Row | null = null; ;) {
        const rows: readonly Row[] = await readPage(from, table, last);
        if (rows.length > 0) await insert(to, table, rows);
        copied += rows.length;
        if (rows.length < pageOf(table)) break;
        last = rows.at(-1)!;
      }
    }
  } finally {
    await sql`rollback`.execute(from);
  }
  return copied;
}

async function readPage(db: Kysely<Tables>, table: keyof Tables, last: Row | null): Promise<readonly Row[]> {
  const key = KEYS[table] as readonly string[];
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const after = last && sql`where (${columns}) > (${sql.join(key.map((column) => last[column]))})`;
  const query = sql<Row>`select * from ${sql.table(table)} ${after ?? sql``} order by ${columns} limit ${sql.lit(pageOf(table))}`;
  return (await query.execute(db)).rows;
}

async function insert(to: Transaction<Tables>, table: keyof Tables, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0]!);
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  const names = sql.join(columns.map((column) => sql.ref(column)));
  await sql`insert into ${sql.table(table)} (${names}) values ${sql.join(values)}`.execute(to);
}

async function beginAnew(tx: Transaction<Tables>): Promise<void> {
  const nobodys = { attempt: 0, saved_attempt: 0, worker: null, lease_until_ms: 0 };
  await tx.updateTable('training_jobs').set(nobodys).where('status', '=', 'running').execute();
  const free = { worker: null, lease_until_ms: 0 };
  await tx
    .updateTable('evaluations')
    .set({ ...free, unsettled: 0 })
    .where('status', '=', 'running')
    .execute();
  await tx.updateTable('responses').set(free).where('status', '=', 'in_progress').execute();
  await tx
    .updateTable('online_training')
    .set({ ...free, unsettled: 0 })
    .execute();
  await tx
    .updateTable('tinker_runs')
    .set({ attempt: 0, ...free })
    .execute();
  await tx.updateTable('idempotency_keys').set({ held_since_ms: 0 }).where('response', 'is', null).execute();
}
