// SQLite through libsql, tuned for durability: WAL, and an fsync per commit. Transactions take the write lock when they
// begin, so that reading first and then writing cannot fail half-way because another process wrote in between.
import { CompiledQuery, sql, SqliteDialect, type Driver, type SqliteDatabase, type SqliteStatement } from 'kysely';
import Database from 'libsql';
import type { StorageDialect } from './dialect.ts';
import { storable } from './storable.ts';

/** How long a statement waits while another process writes. */
const BUSY_TIMEOUT_MS = 10_000;

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
  const database = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    if (use === 'read') database.pragma('query_only = ON');
    else database.pragma(`journal_mode = ${use === 'copy' ? 'DELETE' : 'WAL'}`);
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
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
    super({ database: async () => withStorableValues((database ??= open())) });
    this.#database = () => database;
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    driver.beginTransaction = async (connection) => {
      await connection.executeQuery(CompiledQuery.raw('begin immediate'));
    };
    // A full disk and some other errors end a transaction by themselves. A rollback would then fail, and hide the cause.
    driver.rollbackTransaction = async (connection) => {
      if (this.#database()?.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
    };
    return driver;
  }
}

/** Also those that are copied from another database. */
function withStorableValues(database: Database.Database): SqliteDatabase {
  return {
    close: () => void database.close(),
    prepare(text) {
      const statement = database.prepare(text) as unknown as SqliteStatement;
      return {
        reader: statement.reader,
        all: (parameters) => statement.all(parameters.map(storable)),
        run: (parameters) => statement.run(parameters.map(storable)),
        iterate: (parameters) => statement.iterate(parameters.map(storable)),
      };
    },
  };
}
