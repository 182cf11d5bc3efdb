// Statements of SQLite that are prepared once and used again: preparing takes longer than most of them run. Decides which are kept and
// for how long. Knows no table.
import type Database from 'libsql';
import { LRUCache } from 'lru-cache';
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { storable } from './storable.ts';

/** The server's own texts are about as many; those with lists of values have a text for each length. */
const KEPT_MAX = 256;
/** SQLite keeps a copy of what was bound until other values are: a statement with more is not kept. Bytes or UTF-16 units. */
const KEPT_VALUE_MAX = 16_384;

const REUSABLE = /^\s*(?:with|select|insert|update|delete)\b/i;
/** They change no table, so that what was prepared stays valid. */
const BETWEEN = /^\s*(?:begin|commit|rollback)\b/i;

/** The database as Kysely uses it. Values are stored as both databases can (storable.ts). */
export function withPreparedStatements(database: Database.Database): SqliteDatabase {
  const kept = new LRUCache<string, SqliteStatement>({ max: KEPT_MAX });

  function prepare(text: string): SqliteStatement {
    const statement = database.prepare(text) as unknown as SqliteStatement;
    const isReusable = REUSABLE.test(text);
    /** A statement that fails stays open in libsql, and one with large values holds them: both are dropped. */
    function use<T>(parameters: readonly unknown[], run: (values: readonly unknown[]) => T): T {
      kept.delete(text);
      const values = parameters.map(storable);
      const result = run(values);
      if (isReusable && values.every(isSmall)) kept.set(text, prepared);
      return result;
    }
    const prepared: SqliteStatement = {
      reader: statement.reader,
      all: (parameters) => use(parameters, (values) => statement.all(values)),
      run: (parameters) => use(parameters, (values) => statement.run(values)),
      iterate(parameters) {
        kept.delete(text); // it is in use until its last row is read
        return statement.iterate(parameters.map(storable));
      },
    };
    return prepared;
  }

  return {
    close() {
      kept.clear();
      database.close();
    },
    prepare(text) {
      const known = kept.get(text);
      if (known) return known;
      if (!REUSABLE.test(text) && !BETWEEN.test(text)) kept.clear(); // a migration
      return prepare(text);
    },
  };
}

const isSmall = (value: unknown): boolean =>
  typeof value === 'string' || value instanceof Uint8Array ? value.length <= KEPT_VALUE_MAX : true;
