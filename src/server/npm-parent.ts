// A server or worker that npm started (`npx whetstone serve`, an npm script) ends with npm. npm puts a shell between the two, which does
// not forward signals: without this, stopping npx would leave a server behind that holds its port and its data directory.
// A server that was started otherwise may outlive its parent: `nohup whetstone serve &` is meant that way.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isRunning } from '#base/is-running';

const LOOK_EVERY_MS = 1_000;

export interface ProcessTable {
  /** The parent of this process, now. */
  parent(): number;
  /** Null if it cannot be determined. */
  parentOf(pid: number): number | null;
  isRunning(pid: number): boolean;
}

/** Calls `onGone` once, when npm or the shell between has ended. Returns a function that stops watching. */
export function watchNpmParent(
  env: Readonly<Record<string, string | undefined>>,
  onGone: () => void,
  table: ProcessTable = processTable,
): () => void {
  if (!env['npm_command']) return () => {};
  const shell = table.parent();
  const npm = table.parentOf(shell);
  const timer = setInterval(() => {
    if (table.parent() === shell && table.isRunning(shell) && (npm === null || table.isRunning(npm))) return;
    clearInterval(timer);
    onGone();
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

const processTable: ProcessTable = {
  parent: () => process.ppid,
  parentOf(pid) {
    try {
      const text =
        process.platform === 'linux'
          ? readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) \S+ /s, '')
          : execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' });
      const parent = Number.parseInt(text, 10);
      return parent > 1 ? parent : null;
    } catch {
      return null; // Windows, or a system without ps: only the shell is watched
    }
  },
  isRunning,
};
