// The differences between databases, in one object; queries use it and are otherwise the same SQL everywhere: sqlite-dialect.ts,
// postgres-dialect.ts.
import type { Dialect, RawBuilder } from 'kysely';

export interface StorageDialect {
  /**
   * Connections and transactions. A transaction runs as if it were alone: our queries read first and then write, and
   * rely on no other transaction writing in between.
   */
  readonly kysely: Dialect;
  /** The same without limits of time, for migrations: large tables take minutes, and other servers wait for them. Absent: there are none. */
  readonly migrating?: Dialect;
  /**
   * At the end of a select that picks a row to claim: locks it and skips rows that other transactions are claiming. `for update
   * skip locked` in Postgres, where two claims would otherwise pick one row; nothing in SQLite, which has one writer.
   */
  readonly skipLocked: RawBuilder<unknown>;
  /** Starts a consistent snapshot for reading, while others may write; `rollback` ends it. */
  readonly beginSnapshot: RawBuilder<unknown>;
}
