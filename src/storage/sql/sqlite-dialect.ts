// SQLite through libsql, tuned for durability: WAL, and an fsync per commit. Transactions take the write lock when they
// begin, so that reading first and writing then cannot fail half-way because another process wrote between.
import { CompiledQuery, SqliteDialect, type Driver } from 'kysely';
import Database from 'libsql';

/** How long a statement waits for another process that writes. */
const BUSY_TIMEOUT_MS = 10_000;

export function createSqliteDialect(path: string): SqliteDialect {
  const database = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  return new ImmediateSqliteDialect({ database: database });
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
