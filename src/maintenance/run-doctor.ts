// `whetstone doctor` on a store that no server uses: checks the database, then rows and blobs, then repairs.
// maintenance/doctor.ts decides what is wrong and what may be repaired.
import { quarantinedBlobs } from '#domain/blob-names';
import { pathExists } from '#base/path-exists';
import { AppError } from '#domain/errors';
import { examine } from './doctor.ts';
import type { Finding } from './finding.ts';
import { repairAll } from './doctor-repair.ts';
import type { AccountStore } from '#storage/account-store';
import { openRows } from '#storage/sql/open-rows';
import type { DoctorReport, OnDone } from './reports.ts';
import type { StoreConfig } from '#config/server-config';
import { lockDataDirectory, type DataLock } from '#server/data-lock';
import { databaseFindings } from './database-findings.ts';
import { permissionFindings } from './permission-findings.ts';
import { quarantinePlace } from './quarantine.ts';
import { openBlobReader, getDatabase, requireDatabase } from './store-readers.ts';
import { databasePath } from '#config/data-directory';
import { openBlobs } from '#server/open-stores';

/** Throws `invalid_request` if there is no store, or a server uses it. */
export async function runDoctor(config: StoreConfig, repair: boolean, onDone: OnDone): Promise<DoctorReport> {
  const lock = await lockStore(config);
  try {
    const open = await permissionFindings(config.dataDirectory); // before SQLite creates files next to the database
    const faults = await databaseFindings(config);
    const notRepaired = (finding: Finding) => ({ ...finding, repaired: false });
    if (faults.some(({ kind }) => kind !== 'dangling_reference'))
      return { findings: [...faults, ...open].map(notRepaired), looked: null, quarantine: null };
    const repairing = repair && faults.length === 0; // a damaged database may have lost the rows that refer to a blob
    const rows = openRows(await getDatabase(config, repairing ? 'serve' : 'read'));
    const blobs = await openBlobReader(config);
    try {
      const { inventory } = rows;
      const found = await examine({ inventory, blobs, onProgress: (done, of) => onDone('checking', done, of) });
      const mendable = [...found.findings, ...open];
      const quarantine = quarantinedBlobs(new Date());
      const repaired: ReadonlySet<Finding> = repairing
        ? await repairStore(config, rows.accounts, mendable, quarantine)
        : new Set();
      const hasMoved = [...repaired].some(({ repair: done }) => done?.do === 'quarantine_blobs');
      const all = [...faults.map(notRepaired), ...mendable.map((each) => ({ ...each, repaired: repaired.has(each) }))];
      return {
        findings: all,
        looked: found.looked,
        quarantine: hasMoved ? quarantinePlace(config, quarantine) : null,
      };
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
  quarantine: string,
): Promise<ReadonlySet<Finding>> {
  await refuseServers(config); // one may have started since the first check
  const blobs = await openBlobs(config);
  try {
    return await repairAll(findings, { blobs, accounts, quarantine });
  } finally {
    blobs.close();
  }
}

/** Null: a Postgres without a data directory on this machine. */
async function lockStore(config: StoreConfig): Promise<DataLock | null> {
  if (config.databaseUrl === null) await requireDatabase(databasePath(config.dataDirectory));
  await refuseServers(config);
  return (await pathExists(config.dataDirectory)) ? lockDataDirectory(config.dataDirectory) : null;
}

/** For Postgres; a data directory has its lock. */
async function refuseServers({ databaseUrl }: StoreConfig): Promise<void> {
  if (databaseUrl === null) return;
  const { countServerConnections } = await import('#storage/sql/postgres-servers');
  const connections = await countServerConnections(databaseUrl);
  if (connections === 0) return;
  throw new AppError(
    'invalid_request',
    `The database is in use: whetstone has ${connections} connections to it. Stop all its servers first, because unfinished work would be reported as lost.`,
  );
}
