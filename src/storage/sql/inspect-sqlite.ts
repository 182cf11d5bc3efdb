// Checks an SQLite file before its rows are read: its pages and indexes, its references, its version.
// Writes nothing. The inventory checks the contents of the rows.
import { Kysely, sql } from 'kysely';
import { readSchemaVersion, SCHEMA_VERSION } from './migrate.ts';
import type { Tables } from './rows.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';

export interface DatabaseFault {
  readonly kind: 'damaged' | 'dangling_reference' | 'old_schema' | 'new_schema';
  readonly problem: string;
}

/** SQLite reports up to 100 problems itself; the check of references has no limit. */
const FAULTS_MAX = 100;

/** Empty: no problems. The file must exist. */
export async function inspectSqlite(path: string): Promise<DatabaseFault[]> {
  let db: Kysely<Tables> | null = null;
  try {
    db = new Kysely<Tables>({ dialect: createSqliteDialect(path, 'read').kysely });
    const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db);
    const damaged = rows.map(({ integrity_check: text }) => text).filter((text) => text !== 'ok');
    if (damaged.length > 0) return damaged.slice(0, FAULTS_MAX).map((problem) => ({ kind: 'damaged', problem }));
    return [...(await versionFaults(db)), ...(await danglingReferences(db))];
  } catch (error) {
    return [{ kind: 'damaged', problem: error instanceof Error ? error.message : String(error) }];
  } finally {
    await db?.destroy();
  }
}

export async function versionFaults(db: Kysely<Tables>): Promise<DatabaseFault[]> {
  const version = await readSchemaVersion(db);
  if (version === SCHEMA_VERSION) return [];
  const problem = `has schema version ${version}, this whetstone has ${SCHEMA_VERSION}`;
  return [{ kind: version < SCHEMA_VERSION ? 'old_schema' : 'new_schema', problem }];
}

async function danglingReferences(db: Kysely<Tables>): Promise<DatabaseFault[]> {
  const { rows } = await sql<{ table: string; rowid: number; parent: string }>`pragma foreign_key_check`.execute(db);
  return rows.slice(0, FAULTS_MAX).map(({ table, rowid, parent }) => ({
    kind: 'dangling_reference',
    problem: `row ${rowid} of ${table} refers to a row of ${parent} that does not exist`,
  }));
}
