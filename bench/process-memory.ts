// What a server and the processes of its engines hold in memory, as the operating system counts it.
import { execFileSync } from 'node:child_process';

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
