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

/** Throws what libsql throws when the file cannot be opened or is no database. */
export function createSqliteDialect(path: string, use: SqliteUse = 'serve'): StorageDialect {
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
  return {
    kysely: new ImmediateSqliteDialect({ database: withStorableText(database) }),
    skipLocked: sql``,
    beginSnapshot: sql`begin`, // deferred: waits for nobody, and nobody for it; the first read decides what it sees
  };
}

class ImmediateSqliteDialect extends SqliteDialect {
  override createDriver(): Driver {
    const driver = super.createDriver();
    driver.beginTransaction = async (connection) => {
      await connection.executeQuery(CompiledQuery.raw('begin immediate'));
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
