// The file in a data directory that names the server using it: for error messages, and for commands on the same machine that look for
// its address or for the files of its models. It decides nothing, since process ids repeat and differ between containers; the lock is data-lock.ts.
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

export interface LockHolder extends Partial<Announced> {
  readonly pid: number;
  readonly host: string;
}

/** Known from the moment that the server listens. */
export interface Announced {
  readonly url: string;
  /** Directories of the models whose weights it has, by id. Absent: an older version wrote it. */
  readonly models?: Readonly<Record<string, string>>;
}

export const lockHolderPath = (directory: string): string => join(directory, 'server.lock');

export const writeLockHolder = (directory: string, announced?: Announced): Promise<void> =>
  writeFile(lockHolderPath(directory), JSON.stringify({ pid: process.pid, host: hostname(), ...announced }), {
    mode: 0o600,
  });

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

/** Where the server that uses this data directory has a model's files, if they are on this machine; null: unknown. */
export function findServedModel(directory: string, id: string): string | null {
  const { models = {} } = readLockHolder(directory) ?? {};
  const found = Object.hasOwn(models, id) ? models[id]! : null;
  return found !== null && existsSync(found) ? found : null;
}

function isAlive(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // another user's
  }
}
