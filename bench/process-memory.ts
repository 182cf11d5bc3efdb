// What a server and the processes of its engines hold in memory, as the operating system counts it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Resident bytes by process: `server`, and its children by their last argument (`inference`, `training`). */
export function residentBytesOf(serverPid: number): Readonly<Record<string, number>> {
  const bytes: Record<string, number> = {};
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss=,args='], { encoding: 'utf8' });
  for (const line of table.split('\n')) {
    const [pid, parent, kilobytes, ...args] = line.trim().split(/\s+/);
    const name = Number(pid) === serverPid ? 'server' : Number(parent) === serverPid ? (args.at(-1) ?? 'child') : null;
    if (name !== null) bytes[name] = (bytes[name] ?? 0) + 1024 * Number(kilobytes);
  }
  return bytes;
}

/** Process ids of the children by their last argument. */
export function childrenOf(pid: number): Readonly<Record<string, number>> {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  const children: Record<string, number> = {};
  for (const line of table.split('\n')) {
    const [child, parent, ...args] = line.trim().split(/\s+/);
    if (Number(parent) === pid) children[args.at(-1)!] = Number(child);
  }
  return children;
}

/** By process, as residentBytesOf. Linux. */
export function anonymousBytesOf(serverPid: number): Readonly<Record<string, number>> {
  const bytes: Record<string, number> = {};
  for (const [name, pid] of Object.entries({ server: serverPid, ...childrenOf(serverPid) })) {
    try {
      bytes[name] = memoryOf(pid).anonymousBytes;
    } catch {
      // The process has ended since it was listed.
    }
  }
  return bytes;
}

export interface ProcessMemory {
  readonly anonymousBytes: number;
  /** Mapped file pages in memory: the system may reclaim them, and all processes share them. */
  readonly fileBytes: number;
}

/** Linux. */
function memoryOf(pid: number): ProcessMemory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return { anonymousBytes: 1024 * kilobytes(status, 'RssAnon'), fileBytes: 1024 * kilobytes(status, 'RssFile') };
}

/** Linux: the maximum resident memory so far. */
export const peakBytesOf = (pid: number): number =>
  1024 * kilobytes(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmHWM');

/** While work runs, per process: the sample in which the process held the most. Linux. */
export async function mostMemory(pids: readonly number[], work: Promise<unknown>): Promise<ProcessMemory[]> {
  const most = pids.map(memoryOf);
  const watch = setInterval(() => {
    pids.forEach((pid, i) => {
      const now = memoryOf(pid);
      if (now.anonymousBytes + now.fileBytes > most[i]!.anonymousBytes + most[i]!.fileBytes) most[i] = now;
    });
  }, 20);
  await work.finally(() => clearInterval(watch));
  return most;
}

const kilobytes = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)![1]);
