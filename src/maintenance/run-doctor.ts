// `whetstone doctor` on a store that no server uses: looks at the database, then at rows and blobs, then repairs. What is wrong
// and what may be repaired is services/doctor.ts.
import { AppError } from '#domain/errors';
import { examine, type Finding } from '#services/doctor';
import { repairAll } from '#services/doctor-repair';
import type { AccountStore } from '#storage/account-store';
import { openRows } from '#storage/sql/open-rows';
import type { DoctorReport, OnDone } from '#commands/maintenance';
import type { StoreConfig } from '#config';
import { lockDataDirectory, type DataLock } from '#server/data-lock';
import { databaseFindings } from './database-findings.ts';
import { isThere, openBlobReader, openDatabase, requireDatabase } from './store-readers.ts';
import { databasePath } from '#data-directory';
import { openBlobs } from '#stores';

/** Throws `invalid_request` where there is no store, or a server uses it. */
export async function runDoctor(config: StoreConfig, repair: boolean, onDone: OnDone): Promise<DoctorReport> {
  const lock = await lockStore(config);
  try {
    const faults = await databaseFindings(config);
    const findings = faults.map((fault) => ({ ...fault, repaired: false }));
    if (faults.some(({ kind }) => kind !== 'dangling_reference')) return { findings, looked: null };
    const repairing = repair && faults.length === 0; // what a damaged database does not name may be somebody's
    const rows = openRows(await openDatabase(config, repairing ? 'serve' : 'read'));
    const blobs = await openBlobReader(config);
    try {
      const { inventory } = rows;
      const found = await examine({ inventory, blobs, onProgress: (done, of) => onDone('checked', done, of) });
      const repaired = repairing ? await repairStore(config, rows.accounts, found.findings) : new Set();
      const all = [...findings, ...found.findings.map((each) => ({ ...each, repaired: repaired.has(each) }))];
      return { findings: all, looked: found.looked };
    } finally {
      await blobs.close();
      await rows.close();
    }
  } finally {
    await lock?.release();
  }
}

async function repairStore(
  config: StoreConfig,
  accounts: AccountStore,
  findings: readonly Finding[],
): Promise<ReadonlySet<unknown>> {
  await refuseServers(config); // one may have started since the first look
  const blobs = await openBlobs(config);
  try {
    return await repairAll(findings, { blobs, accounts });
  } finally {
    blobs.close();
  }
}

/** Null: a Postgres without a data directory on this machine. */
async function lockStore(config: StoreConfig): Promise<DataLock | null> {
  if (config.databaseUrl === null) await requireDatabase(databasePath(config.dataDirectory));
  await refuseServers(config);
  return (await isThere(config.dataDirectory)) ? lockDataDirectory(config.dataDirectory) : null;
}

/** Of a Postgres; a data directory has its lock. */
async function refuseServers({ databaseUrl }: StoreConfig): Promise<void> {
  if (databaseUrl === null) return;
  const { countServerConnections } = await import('#storage/sql/postgres-servers');
  const connections = await countServerConnections(databaseUrl);
  if (connections === 0) return;
  throw new AppError('invalid_request', `The database is in use: whetstone has ${connections} connections to it. Stop all its servers first; what is under way would look lost.`); // prettier-ignore
}
