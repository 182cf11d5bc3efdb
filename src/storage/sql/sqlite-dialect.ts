// SQLite through libsql, tuned for durability: WAL, and an fsync per commit. Transactions take the write lock when they
// begin, so that reading first and writing then cannot fail half-way because another process wrote between.
import { CompiledQuery, sql, SqliteDialect, type Driver, type SqliteDatabase, type SqliteStatement } from 'kysely';
import Database from 'libsql';
import type { StorageDialect } from './dialect.ts';

/** How long a statement waits for another process that writes. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * `serve`: as servers and commands use it. `read`: beside them; nothing is written. `copy`: a file that is moved when it is
 * complete, without a write-ahead log beside it.
 */
export type SqliteUse = 'serve' | 'read' | 'copy';

/** The file is opened by the first query, which throws what libsql throws where it cannot be, or is no database. */
export const createSqliteDialect = (path: string, use: SqliteUse = 'serve'): StorageDialect => ({
  kysely: new ImmediateSqliteDialect(() => openDatabase(path, use)),
  skipLocked: sql``,
  beginSnapshot: sql`begin`, // deferred: waits for nobody, and nobody for it; the first read decides what it sees
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
    super({ database: async () => withStorableText((database ??= open())) });
    this.#database = () => database;
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    driver.beginTransaction = async (connection) => {
      await connection.executeQuery(CompiledQuery.raw('begin immediate'));
    };
    // A full disk and some others end a transaction by themselves. To roll back what is over fails, and would hide why.
    driver.rollbackTransaction = async (connection) => {
      if (this.#database()?.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
    };
    return driver;
  }
}

/** libsql stores a text with U+0000 whole but reads it back only up to there; Postgres refuses it. We store U+FFFD instead. */
function withStorableText(database: Database.Database): SqliteDatabase {
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

const storable = (value: unknown): unknown => (typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value);
