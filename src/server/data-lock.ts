// One server or repairing command per data directory. The kernel holds the lock: an open transaction on an empty SQLite file,
// which ends with its process however that ends, and which other containers of the machine see too. The file stays when the
// lock is released: deleting it would let two processes lock two files of one name. No other code of the process may
// open it: closing it would release the lock, as POSIX defines record locks.
// server.lock names the holder for error messages, and for versions before 1.0, which know no other lock. It decides nothing:
// process ids repeat, and differ between containers.
import { access, constants, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { AppError } from '#domain/errors';

export interface DataLock {
  release(): Promise<void>;
}

/** Throws `invalid_request` that names the process holding the lock. */
export async function lockDataDirectory(directory: string): Promise<DataLock> {
  await access(directory, constants.W_OK | constants.X_OK); // its error has a code; that of the database has none
  const database = new Database(join(directory, 'lock.db'), { timeout: 0 });
  const holder = join(directory, 'server.lock');
  async function release(): Promise<void> {
    if (!database.open) return;
    await rm(holder, { force: true }); // while the lock is held, so that it is this process's own
    database.close();
  }
  try {
    database.exec('begin immediate'); // the write lock, which one connection has; nothing is ever written
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    const message = `${directory} is in use by the server with process id ${await describeHolder(holder)}. Stop it, or choose another --data directory.`;
    throw new AppError('invalid_request', message, { cause: error });
  }
  try {
    await writeFile(holder, JSON.stringify({ pid: process.pid, host: hostname() }), { mode: 0o600 });
  } catch (error) {
    await release();
    throw error;
  }
  return { release };
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';

async function describeHolder(path: string): Promise<string> {
  try {
    const { pid, host } = JSON.parse(await readFile(path, 'utf8')) as { pid: number; host: string };
    return `${pid} on ${host}`;
  } catch {
    return 'not yet known: it is starting'; // it has the lock and has not written its name
  }
}
