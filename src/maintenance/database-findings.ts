// Problems of the database itself, checked before its rows are trusted. Postgres maintains its own pages and references;
// SQLite is checked here.
import type { Finding, FindingKind } from './finding.ts';
import { inspectSqlite, type DatabaseFault } from '#storage/sql/inspect-sqlite';
import { openRows } from '#storage/sql/open-rows';
import type { StoreConfig } from '#config/server-config';
import { getDatabase } from './store-readers.ts';
import { databasePath } from '#config/data-directory';

const MEANING: Readonly<Record<DatabaseFault['kind'], { readonly kind: FindingKind; readonly remedy: string }>> = {
  damaged: { kind: 'database_damaged', remedy: 'restore it from a backup' },
  dangling_reference: { kind: 'dangling_reference', remedy: 'restore the database from a backup' },
  old_schema: { kind: 'old_schema', remedy: 'run `whetstone migrate`, or start the server once' },
  new_schema: { kind: 'new_schema', remedy: 'use the newer whetstone that wrote it' },
};

/** Any finding except a dangling reference: the rows cannot be read. */
export async function databaseFindings(config: StoreConfig): Promise<Finding[]> {
  const { place, faults } = await inspect(config);
  return faults.map(({ kind, problem }) => ({ ...MEANING[kind], where: place, problem, repair: null }));
}

async function inspect(config: StoreConfig): Promise<{ place: string; faults: readonly DatabaseFault[] }> {
  if (config.databaseUrl === null) {
    const place = databasePath(config.dataDirectory);
    return { place, faults: await inspectSqlite(place) };
  }
  const database = await getDatabase(config, 'read');
  const rows = openRows(database);
  try {
    return { place: database.place, faults: await rows.faults() };
  } finally {
    await rows.close();
  }
}
