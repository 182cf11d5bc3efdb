// `whetstone restore`: copies a backup into an empty store, which may be of another kind than the original. The backup is
// checked first, as by `whetstone doctor`, and is not changed; blobs are copied before rows.
import { copyFile, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { silentLog } from '#base/log';
import { pathExists } from '#base/path-exists';
import { makePrivateDirectory } from '#base/private-directory';
import { unfinishedPath } from '#base/whole-file';
import { AppError } from '#domain/errors';
import { examine } from './doctor.ts';
import { restoreBlobs } from './restore.ts';
import { copyRows, type Database } from '#storage/sql/copy-rows';
import { inspectSqlite } from '#storage/sql/inspect-sqlite';
import { openRows } from '#storage/sql/open-rows';
import { openSqliteStorage } from '#storage/sql/open-sqlite';
import { createSqliteDialect } from '#storage/sql/sqlite-dialect';
import type { OnDone, RestoreReport } from './reports.ts';
import type { StoreConfig } from '#config/server-config';
import { lockDataDirectory } from '#server/data-lock';
import { copySecretKey } from './copy-secret-key.ts';
import { openBlobReader, getDatabase, requireDatabase } from './store-readers.ts';
import { databasePath, restoringPath } from '#config/data-directory';
import { openBlobs } from '#server/open-stores';
import { deleteMarker, placeOfRows, SQLITE_SUFFIXES } from './unfinished-restore.ts';

/** Throws `invalid_request` if the store is not empty, `damaged_data` if the backup's database cannot be read. */
export async function runRestore(
  config: StoreConfig,
  from: string,
  acceptDamage: boolean,
  onDone: OnDone,
): Promise<RestoreReport> {
  const backup = resolve(from);
  await requireDatabase(databasePath(backup));
  await makePrivateDirectory(config.dataDirectory);
  const lock = await lockDataDirectory(config.dataDirectory);
  const working = restoringPath(config.dataDirectory);
  let isPartial = await pathExists(working); // an earlier restore was interrupted
  try {
    await refuseRows(config);
    await makeWorkingCopy(backup, working);
    const report = await restore(config, backup, working, acceptDamage, onDone, () => (isPartial = true));
    if (report.outcome === 'restored') isPartial = false;
    return report;
  } finally {
    if (!isPartial) await deleteMarker(config.dataDirectory); // otherwise no server starts on a part of the backup
    await lock.release();
  }
}

async function restore(
  config: StoreConfig,
  backup: string,
  working: string,
  acceptDamage: boolean,
  onDone: OnDone,
  onFirstWrite: () => void,
): Promise<RestoreReport> {
  const database = (): Database => ({ dialect: createSqliteDialect(working, 'read'), place: backup });
  const rows = openRows(database());
  const source = await openBlobReader({ dataDirectory: backup, s3: null });
  const target = await openBlobs(config);
  try {
    const { inventory } = rows;
    const examination = await examine({
      inventory,
      blobs: source,
      onProgress: (done, of) => onDone('checking', done, of),
    });
    const findings = examination.findings.filter(({ kind }) => LOSSES.has(kind));
    const { looked } = examination;
    if (findings.length > 0 && !acceptDamage) return { outcome: 'refused', findings, looked };
    await restoreBlobs({
      inventory,
      source,
      target,
      onProgress(done, of) {
        onFirstWrite(); // the target has been checked
        onDone('copying', done, of);
      },
    });
    await copySecretKey(backup, config.dataDirectory);
    await copyRows(database(), await getDatabase(config, 'serve'), { begins: true });
    return { outcome: 'restored', findings, looked };
  } finally {
    target.close();
    await source.close();
    await rows.close();
  }
}

/** Findings that lose data; `whetstone doctor --repair` can repair all others at any time. */
const LOSSES: ReadonlySet<string> = new Set(['missing_data', 'damaged_data', 'bad_events', 'duplicate_checkpoint']);

async function refuseRows(config: StoreConfig): Promise<void> {
  const place = await placeOfRows(config);
  if (place === null) return;
  throw new AppError(
    'invalid_request',
    `${place} is not empty. A backup is restored into an empty store: choose another --data directory or database.`,
  );
}

/**
 * A migrated copy: a backup may have an older schema, and may be on a read-only disk. Replaces the copy of an earlier restore, which is
 * never absent meanwhile.
 */
async function makeWorkingCopy(backup: string, working: string): Promise<void> {
  const copied = unfinishedPath(working);
  await copyFile(databasePath(backup), copied);
  for (const suffix of SQLITE_SUFFIXES) await rm(`${working}${suffix}`, { force: true });
  await rename(copied, working);
  const wal = `${databasePath(backup)}-wal`;
  if (await pathExists(wal)) await copyFile(wal, `${working}-wal`);
  const faults = await inspectSqlite(working);
  const bad = faults.find(({ kind }) => kind !== 'old_schema' && kind !== 'new_schema'); // a newer schema has its own error
  if (bad)
    throw new AppError('damaged_data', `The database of ${backup} is damaged: ${bad.problem}. Restore another backup.`);
  await (await openSqliteStorage({ path: working, log: silentLog })).close();
}
