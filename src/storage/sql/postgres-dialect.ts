// Postgres through node-postgres. Transactions take one lock of the database when they begin, so that they run one after another across all
// servers, as in SQLite: ours read first and then write. They are short. Those that name their objects (transaction.ts) share that lock and
// take one of each object. Transactions leave some connections to single statements, which never wait for a lock of ours.
import type { Socket } from 'node:net';
import { CompiledQuery, PostgresDialect, sql, type DatabaseConnection, type Driver } from 'kysely';
import pg from 'pg';
import { silentLog, type Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { StorageDialect } from './dialect.ts';
import { createSlots } from './slots.ts';
import { storable } from './storable.ts';
import { beginningTransaction } from './transaction.ts';

const CONNECTIONS_MAX = 10;
/** The others are for single statements. */
const TRANSACTIONS_MAX = 6;
const CONNECT_MS_MAX = 5_000;
/** For one statement, waiting for the lock included. */
const STATEMENT_MS_MAX = 30_000;
/** The database ends a statement before; a machine or a network that is gone says nothing, and TCP alone would wait for a quarter of an hour. */
const SILENCE_MS_MAX = 45_000;
/** For a server that is gone, or stands still, in the middle of a transaction: its locks would keep all others waiting, for two hours by TCP alone. */
const IDLE_MS_MAX = 60_000;
/** How `pg_stat_activity` shows the connections of servers. */
export const SERVER_NAME = 'whetstone';
/** For commands that look for servers, or may run at the same time as servers. */
export const COMMAND_NAME = 'whetstone command';
/** Our number among the database's advisory locks: "whet" in ASCII. */
const LOCK = 0x77686574;
/** The first half of the numbers of objects' locks: "wobj". */
const OBJECT_LOCK = 0x776f626a;

/** For messages: without the password. */
export function postgresPlace(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

export interface PostgresDialectOptions {
  readonly name?: string;
  readonly log?: Log;
  /** Shorter ones, for tests. */
  readonly limits?: Partial<PostgresLimits>;
}

interface PostgresLimits {
  /** For one statement, waiting for the lock included. */
  readonly statementMs: number;
  /** For an answer to a statement. */
  readonly silenceMs: number;
  /** Between two statements of a transaction. */
  readonly idleMs: number;
}

const LIMITS: PostgresLimits = { statementMs: STATEMENT_MS_MAX, silenceMs: SILENCE_MS_MAX, idleMs: IDLE_MS_MAX };

export function createPostgresDialect(
  url: string,
  { name = SERVER_NAME, log = silentLog, limits = {} }: PostgresDialectOptions = {},
): StorageDialect {
  const { statementMs, silenceMs, idleMs } = { ...LIMITS, ...limits };
  const common = { connectionString: url, connectionTimeoutMillis: CONNECT_MS_MAX, application_name: name, types };
  const lost = (err: Error) => log.warn('database.connection_lost', { place: postgresPlace(url), err });
  const pool = listening(
    new pg.Pool({
      ...common,
      max: CONNECTIONS_MAX,
      statement_timeout: statementMs,
      idle_in_transaction_session_timeout: idleMs,
    }),
    lost,
  );
  pool.on('connect', (client) => endIfSilent(client, silenceMs));
  return {
    kysely: new SerialPostgresDialect({ pool: withStorableValues(pool) }),
    migrating: new SerialPostgresDialect({
      pool: async () => listening(new pg.Pool({ ...common, max: 1, keepAlive: true }), lost),
    }),
    skipLocked: sql`for update skip locked`,
    beginSnapshot: sql`begin isolation level repeatable read read only`,
  };
}

class SerialPostgresDialect extends PostgresDialect {
  override createDriver(): Driver {
    const driver = super.createDriver();
    const slots = createSlots(TRANSACTIONS_MAX, STATEMENT_MS_MAX, databaseBusy);
    const inTransaction = new WeakSet<DatabaseConnection>();
    const acquire = driver.acquireConnection.bind(driver);
    driver.acquireConnection = async () => {
      if (beginningTransaction() === null) return acquire();
      await slots.enter();
      try {
        const connection = await acquire();
        inTransaction.add(connection);
        return connection;
      } catch (error) {
        slots.leave();
        throw error;
      }
    };
    const release = driver.releaseConnection.bind(driver);
    driver.releaseConnection = async (connection) => {
      if (inTransaction.delete(connection)) slots.leave();
      await release(connection);
    };
    const begin = driver.beginTransaction.bind(driver);
    driver.beginTransaction = async (connection, settings) => {
      try {
        await begin(connection, settings);
        await connection.executeQuery(lockFor(beginningTransaction()?.objects ?? null));
      } catch (error) {
        // Kysely does not roll back a transaction that failed to begin: the pool would hand out a connection inside a failed transaction.
        await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => undefined);
        throw error;
      }
    };
    return driver;
  }
}

/** One statement, whose timeout also ends the wait: alone, or beside the transactions of other objects. */
function lockFor(objects: readonly string[] | null): CompiledQuery {
  if (objects === null) return CompiledQuery.raw(`select pg_advisory_xact_lock(${LOCK})`);
  const ofObjects = objects.map((_, i) => `pg_advisory_xact_lock(${OBJECT_LOCK}, hashtext($${i + 1}))`);
  return CompiledQuery.raw(`select ${[`pg_advisory_xact_lock_shared(${LOCK})`, ...ofObjects].join(', ')}`, [
    ...objects,
  ]);
}

const databaseBusy = (): AppError =>
  new AppError(
    'storage_unavailable',
    `The database is busy: a change waited ${STATEMENT_MS_MAX / 1000} s for its turn. Try again later.`,
    { retryAfterSeconds: 5 },
  );

/** int8 and numeric, by their oids. */
const NUMBERS = new Set([20, 1700]);

/** As numbers: milliseconds and counts stay below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    NUMBERS.has(oid) ? Number : (pg.types.getTypeParser(oid, format) as (text: string) => unknown),
};

/**
 * A lost connection emits an error event, which ends the process if nothing listens: through the pool while it is idle, by itself while it is
 * in use. The statement that uses it gets the same error, and the pool drops the connection.
 */
function listening(pool: pg.Pool, lost: (error: Error) => void): pg.Pool {
  pool.on('error', lost);
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Ends a connection whose statement gets no answer: the statement fails, and the pool drops the connection. */
function endIfSilent(client: pg.PoolClient, silenceMs: number): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  let waiting = 0;
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  client.query = ((...args: unknown[]) => {
    const answer = query(...args);
    if (!(answer instanceof Promise)) return answer;
    waiting++;
    return answer.finally(() => waiting--);
  }) as typeof client.query;
  stream.setTimeout(silenceMs, () => {
    const silent = Object.assign(new Error(`The database did not answer for ${silenceMs} ms.`), { code: 'ETIMEDOUT' });
    if (waiting > 0) stream.destroy(silent);
  });
}

/** Also those that are copied from another database. */
function withStorableValues(pool: pg.Pool): pg.Pool {
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    client.query = ((text: unknown, values?: unknown, ...rest: unknown[]) =>
      query(text, Array.isArray(values) ? values.map(storable) : values, ...rest)) as typeof client.query;
  });
  return pool;
}
