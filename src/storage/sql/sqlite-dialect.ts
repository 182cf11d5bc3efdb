// SQLite through libsql, tuned for durability: WAL, and an fsync per commit. Transactions take the write lock when they begin, so that
// reading first and then writing cannot fail half-way because another process wrote in between. libsql is synchronous: while another
// process holds that lock, statements are tried again with pauses, in which the event loop goes on.
import { setTimeout as delay } from 'node:timers/promises';
import {
  CompiledQuery,
  sql,
  SqliteDialect,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type RootOperationNode,
} from 'kysely';
import Database from 'libsql';
import { createSharedTurn } from '#base/yield-to-loop';
import type { StorageDialect } from './dialect.ts';
import { withPreparedStatements } from './prepared-statements.ts';

/** How long a statement waits while another process writes: a backup, or `doctor --repair`. */
const BUSY_MS_MAX = 10_000;
/** How long one try may stop the event loop. */
const TRY_MS = 10;
const PAUSE_MS = { first: 5, max: 100 };

/**
 * `serve`: for servers and commands. `read`: read-only, while a server may be running. `copy`: a file that is moved when it is
 * complete, without a write-ahead log.
 */
export type SqliteUse = 'serve' | 'read' | 'copy';

/** The first query opens the file, and throws libsql's error if it cannot be opened or is not a database. */
export const createSqliteDialect = (path: string, use: SqliteUse = 'serve'): StorageDialect => ({
  kysely: new ImmediateSqliteDialect(() => openDatabase(path, use)),
  skipLocked: sql``,
  beginSnapshot: sql`begin`, // deferred: takes no lock and blocks nobody; the first read fixes the snapshot
});

function openDatabase(path: string, use: SqliteUse): Database.Database {
  const database = new Database(path, { timeout: BUSY_MS_MAX });
  try {
    if (use === 'read') database.pragma('query_only = ON');
    else database.pragma(`journal_mode = ${use === 'copy' ? 'DELETE' : 'WAL'}`);
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    database.pragma(`busy_timeout = ${TRY_MS}`);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

class ImmediateSqliteDialect extends SqliteDialect {
  /** Null until the first query. */
  readonly #database: () => Database.Database | null;

  constructor(open: () => Database.Database) {
    let database: Database.Database | null = null;
    super({ database: async () => withPreparedStatements((database ??= open())) });
    this.#database = () => database;
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    const acquire = driver.acquireConnection.bind(driver);
    const patient = new WeakSet<DatabaseConnection>();
    const turn = createSharedTurn();
    driver.acquireConnection = async () => {
      for (let over = turn(); over; over = turn()) await over; // libsql never waits: many reads in a row would be one turn
      const connection = await acquire();
      if (!patient.has(connection)) connection.executeQuery = this.#patient(connection.executeQuery.bind(connection));
      patient.add(connection);
      return connection;
    };
    driver.beginTransaction = () => beginWriting(this.#database()!);
    // A full disk and some other errors end a transaction by themselves. A rollback would then fail, and hide the cause.
    driver.rollbackTransaction = async (connection) => {
      if (this.#database()?.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
    };
    return driver;
  }

  /** A change outside of transactions gets its own, because only the beginning of one can be tried again. */
  #patient(execute: DatabaseConnection['executeQuery']): DatabaseConnection['executeQuery'] {
    return async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      const database = this.#database()!;
      if (database.inTransaction || READING.has(query.query.kind)) return execute<R>(query);
      await beginWriting(database);
      try {
        const result = await execute<R>(query);
        database.exec('commit');
        return result;
      } catch (error) {
        if (database.inTransaction) database.exec('rollback');
        throw error;
      }
    };
  }
}

/** Raw statements here are pragmas, vacuum, or the beginnings and ends of transactions. */
const READING: ReadonlySet<string> = new Set(['SelectQueryNode', 'RawNode'] satisfies RootOperationNode['kind'][]);

/** By `exec`: a prepared statement that finds the file busy stays open in libsql, and with it whatever is written next. */
async function beginWriting(database: Database.Database): Promise<void> {
  const endMs = performance.now() + BUSY_MS_MAX;
  for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(PAUSE_MS.max, 2 * pauseMs)) {
    try {
      database.exec('begin immediate');
      return;
    } catch (error) {
      const isBusy = (error as { code?: unknown } | null)?.code === 'SQLITE_BUSY';
      if (!isBusy || performance.now() > endMs) throw error;
    }
    await delay(pauseMs);
  }
}
