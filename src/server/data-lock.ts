// One server or repairing command per data directory. The kernel holds the lock: an open transaction on a small SQLite file,
// which ends with its process however that ends, and which other containers of the machine see too. A file that merely names
// a process can be none of this, because process ids repeat and differ between containers. The file stays when the lock
// is released: deleting it would let two processes lock two files of one name.
// No other code of the process may open the file: closing it would release the lock, as POSIX defines record locks.
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { AppError } from '#domain/errors';

export interface DataLock {
  release(): Promise<void>;
}

/** Throws `invalid_request` that names the process holding the lock. */
export async function lockDataDirectory(directory: string): Promise<DataLock> {
  const database = new Database(join(directory, 'lock.db'), { timeout: 0 });
  try {
    begin(database);
    database.exec('create table if not exists holder (pid integer, host text); delete from holder');
    database.prepare('insert into holder values (?, ?)').run(process.pid, hostname());
    database.exec('commit'); // others can read the holder now, and one that begins in between has the lock
    begin(database);
  } catch (error) {
    const holder = isBusy(error) ? readHolder(database) : null;
    database.close();
    if (!isBusy(error)) throw error;
    const message = `${directory} ${holder ?? 'is in use by another server, which is starting'}. Stop it, or choose another --data directory.`;
    throw new AppError('invalid_request', message, { cause: error });
  }
  await rm(join(directory, 'server.lock'), { force: true }); // of versions before 1.0, which named a process in it
  return {
    async release() {
      if (!database.open) return;
      database.exec('rollback'); // closing waits for the collector of statements
      database.close();
    },
  };
}

/** Keeps the write lock; others can still read. */
const begin = (database: Database.Database): void => void database.exec('begin immediate');

/** SQLITE_BUSY, and SQLITE_BUSY_RECOVERY or SQLITE_BUSY_SNAPSHOT. */
const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');

/** Null while the holder has not written its name yet. */
function readHolder(database: Database.Database): string | null {
  try {
    const row = database.prepare('select pid, host from holder').get() as { pid: number; host: string } | undefined;
    return row ? `is in use by the server with process id ${row.pid} on ${row.host}` : null;
  } catch {
    return null;
  }
}
