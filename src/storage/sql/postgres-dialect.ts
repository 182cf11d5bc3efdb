// Postgres through node-postgres. Transactions take one lock of the database when they begin, so that they run one after
// another across all servers, as in SQLite: ours read first and then write. They are short.
import { CompiledQuery, PostgresDialect, sql, type Driver } from 'kysely';
import pg from 'pg';
import type { StorageDialect } from './dialect.ts';
import { storable } from './storable.ts';

const CONNECTIONS_MAX = 10;
const CONNECT_MS_MAX = 5_000;
/** For one statement, waiting for the lock included. */
const STATEMENT_MS_MAX = 30_000;
/** How `pg_stat_activity` shows the connections of servers. */
export const SERVER_NAME = 'whetstone';
/** For commands that look for servers, or may run at the same time as servers. */
export const COMMAND_NAME = 'whetstone command';
/** Our number among the database's advisory locks: "whet" in ASCII. */
const LOCK = 0x77686574;

/** For messages: without the password. */
export function postgresPlace(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

export function createPostgresDialect(url: string, name = SERVER_NAME): StorageDialect {
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    statement_timeout: STATEMENT_MS_MAX,
    application_name: name,
    types,
  });
  // A lost connection emits an error event, which ends the process if nothing listens: through the pool while it is
  // idle, by itself while it is in use. The statement that uses it gets the same error, and the pool drops the connection.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return {
    kysely: new SerialPostgresDialect({ pool: withStorableValues(pool) }),
    skipLocked: sql`for update skip locked`,
    beginSnapshot: sql`begin isolation level repeatable read read only`,
  };
}

class SerialPostgresDialect extends PostgresDialect {
  override createDriver(): Driver {
    const driver = super.createDriver();
    const begin = driver.beginTransaction.bind(driver);
    driver.beginTransaction = async (connection, settings) => {
      try {
        await begin(connection, settings);
        await connection.executeQuery(CompiledQuery.raw(`select pg_advisory_xact_lock(${LOCK})`));
      } catch (error) {
        // Kysely does not roll back a transaction that failed to begin: the pool would hand out a connection inside a failed transaction.
        await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => undefined);
        throw error;
      }
    };
    return driver;
  }
}

/** int8 and numeric, by their oids. */
const NUMBERS = new Set([20, 1700]);

/** As numbers: milliseconds and counts stay below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    NUMBERS.has(oid) ? Number : (pg.types.getTypeParser(oid, format) as (text: string) => unknown),
};

/** Also those that are copied from another database. */
function withStorableValues(pool: pg.Pool): pg.Pool {
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    client.query = ((text: unknown, values?: unknown, ...rest: unknown[]) =>
      query(text, Array.isArray(values) ? values.map(storable) : values, ...rest)) as typeof client.query;
  });
  return pool;
}
