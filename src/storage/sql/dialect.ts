// What databases disagree on, in one object; the queries ask it and are otherwise the same SQL everywhere: sqlite-dialect.ts,
// postgres-dialect.ts.
import type { Dialect, RawBuilder } from 'kysely';

export interface StorageDialect {
  /**
   * Connections and transactions. A transaction runs as if it were alone: our queries read first and write then, and
   * rely on nobody writing between.
   */
  readonly kysely: Dialect;
  /**
   * At the end of a select that picks a row to take: locks it and passes over rows that others are taking. `for update
   * skip locked` in Postgres, where two claims would otherwise pick one row; nothing in SQLite, which has one writer.
   */
  readonly skipLocked: RawBuilder<unknown>;
  /** Begins reading of one moment, beside whoever writes; `rollback` ends it. */
  readonly beginSnapshot: RawBuilder<unknown>;
}
