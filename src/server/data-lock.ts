// One server per data directory: a lock file that names its process. The lock of a dead process is taken over, even
// if another process has got its number since.
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning } from '#base/is-running';
import { AppError } from '#domain/errors';

export interface DataLock {
  release(): Promise<void>;
}

/** Throws `invalid_request` that names the process holding the lock. */
export async function lockDataDirectory(directory: string): Promise<DataLock> {
  const path = join(directory, 'server.lock');
  // There is nothing to wait for between attempts, so this does not use p-retry.
  for (let attempt = 1; attempt <= 3; attempt++) {
    try {
      const file = await open(path, 'wx', 0o600);
      await file.writeFile(JSON.stringify({ pid: process.pid, startedAt: await startOf(process.pid) }));
      await file.close();
      return { release: () => rm(path, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = await readHolder(path);
    if (holder && (await isAlive(holder))) {
      const message = `${directory} is in use by the server with process id ${holder.pid}. Stop it, or choose another --data directory.`;
      throw new AppError('invalid_request', message);
    }
    await rm(path, { force: true });
  }
  throw new AppError('invalid_request', `Cannot lock ${directory}: another server is starting on it.`);
}

interface Holder {
  readonly pid: number;
  readonly startedAt: string | null;
}

async function readHolder(path: string): Promise<Holder | null> {
  const text = await readFile(path, 'utf8').catch(() => '');
  try {
    const { pid, startedAt } = JSON.parse(text) as Partial<Holder>;
    return Number.isSafeInteger(pid) ? { pid: pid!, startedAt: startedAt ?? null } : null;
  } catch {
    return null; // its writer died before the file was complete
  }
}

async function isAlive({ pid, startedAt }: Holder): Promise<boolean> {
  if (pid === process.pid) return startedAt === (await startOf(pid)); // a second server in this process
  if (!isRunning(pid)) return false;
  const start = await startOf(pid);
  return start === null || startedAt === null || start === startedAt;
}

/** It has ended, but process 1 has not reaped it yet: common in containers. */
const DEAD = 'dead';

/** Boot and start time of a process, if /proc has them; process ids repeat, this pair does not. */
async function startOf(pid: number): Promise<string | null> {
  try {
    const [boot, stat] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (afterName[0] === 'Z') return DEAD;
    return `${boot.trim()}/${afterName[19]}`; // field 22: start time in ticks since boot
  } catch {
    return null;
  }
}
