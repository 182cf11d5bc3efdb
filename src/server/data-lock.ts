// One server or repairing command per data directory. The kernel holds the lock: an open transaction on an empty SQLite file,
// which ends with its process however that ends, and which other containers of the machine see too. The file stays when the
// lock is released: deleting it would let two processes lock two files of one name. No other code of the process may
// open it: closing it would release the lock, as POSIX defines record locks.
// server.lock (lock-holder.ts) names the holder, also for versions before 1.0, which know no other lock.
import { access, constants, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { AppError } from '#domain/errors';
import { lockHolderPath, readLockHolder, writeLockHolder, type Announced } from './lock-holder.ts';

export interface DataLock {
  /** Tells commands on this machine where the server listens and where its models are. */
  announce(announced: Announced): Promise<void>;
  release(): Promise<void>;
}

/** Throws `invalid_request` that names the process holding the lock. */
export async function lockDataDirectory(directory: string): Promise<DataLock> {
  await access(directory, constants.W_OK | constants.X_OK); // its error has a code; that of the database has none
  const database = new Database(join(directory, 'lock.db'), { timeout: 0 });
  async function release(): Promise<void> {
    if (!database.open) return;
    await rm(lockHolderPath(directory), { force: true }); // while the lock is held, so that it is this process's own
    database.close();
  }
  try {
    database.exec('begin immediate'); // the write lock, which one connection has; nothing is ever written
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    const message = `${directory} is in use by the server with process id ${describeHolder(directory)}. Stop it, or choose another --data directory.`;
    throw new AppError('invalid_request', message, { cause: error });
  }
  try {
    await writeLockHolder(directory);
  } catch (error) {
    await release();
    throw error;
  }
  return { release, announce: (announced) => writeLockHolder(directory, announced) };
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';

function describeHolder(directory: string): string {
  const holder = readLockHolder(directory);
  if (holder === null) return 'not yet known: it is starting'; // it has the lock and has not written its name
  return `${holder.pid} on ${holder.host}`;
}
