// The file in a data directory that names the server using it: for error messages, and for commands on the same machine that look for
// its address. It decides nothing, since process ids repeat and differ between containers; the lock is data-lock.ts.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** From the moment that it listens. */
  readonly url?: string;
}

export const lockHolderPath = (directory: string): string => join(directory, 'server.lock');

export const writeLockHolder = (directory: string, url?: string): Promise<void> =>
  writeFile(lockHolderPath(directory), JSON.stringify({ pid: process.pid, host: hostname(), url }), { mode: 0o600 });

/** Null: nobody, or a process that has not yet written its name. */
export function readLockHolder(directory: string): LockHolder | null {
  try {
    return JSON.parse(readFileSync(lockHolderPath(directory), 'utf8')) as LockHolder;
  } catch {
    return null;
  }
}

/** The address of the server that uses this directory, as a program on its machine calls it; null: none runs. */
export function findServerUrl(directory: string): string | null {
  const { pid, host, url } = readLockHolder(directory) ?? {};
  if (url === undefined || !URL.canParse(url) || (host === hostname() && !isAlive(pid))) return null;
  const address = new URL(url);
  if (address.hostname === '0.0.0.0') address.hostname = '127.0.0.1';
  if (address.hostname === '[::]') address.hostname = '[::1]';
  return address.origin;
}

function isAlive(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // another user's
  }
}
