// Processor time and memory of processes with everything that they started, which a busy machine does not lengthen. Linux, from /proc.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Clock ticks per second, in which the kernel counts processor time on every architecture that Node runs on. */
const TICKS = 100;
const SAMPLE_MS = 100;

/** `roots` and their descendants that are alive. */
function treeOf(roots: readonly number[]): readonly number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const parents = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const tree = new Set(roots);
  for (let size = 0; size < tree.size;) {
    size = tree.size;
    for (const [pid, parent] of parents) if (tree.has(parent)) tree.add(pid);
  }
  return [...tree];
}

/** Null: the process has ended. */
function read(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return null;
  }
}

/** So far, with the time of children that have ended. */
function processorSecondsOf(roots: readonly number[]): number {
  const ticks = treeOf(roots).map((pid) => {
    const fields =
      read(pid, 'stat')
        ?.replace(/^.*\) /s, '')
        .split(' ') ?? [];
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0); // utime, stime, cutime, cstime
  });
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS;
}

/** Private memory of all, and pages of files once: processes of one model map the same files. */
function bytesOf(pids: readonly number[]): number {
  const kilobytes = (status: string, name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  const statuses = pids.map((pid) => read(pid, 'status') ?? '');
  const anonymous = statuses.reduce((sum, status) => sum + kilobytes(status, 'RssAnon'), 0);
  return 1024 * (anonymous + Math.max(0, ...statuses.map((status) => kilobytes(status, 'RssFile'))));
}

export interface Cost {
  readonly seconds: number;
  readonly processorSeconds: number;
  readonly peakBytes: number;
}

/** What `work` costs in processes that are there already, and in those that they start meanwhile. This process is not counted. */
export async function costOf<T>(roots: readonly number[], work: () => Promise<T>): Promise<readonly [T, Cost]> {
  const [startMs, before] = [performance.now(), processorSecondsOf(roots)];
  let peakBytes = 0;
  let pids = treeOf(roots);
  let samples = 0;
  const watch = setInterval(() => {
    if (++samples % 10 === 0) pids = treeOf(roots);
    peakBytes = Math.max(peakBytes, bytesOf(pids));
  }, SAMPLE_MS);
  const result = await work().finally(() => clearInterval(watch));
  const seconds = (performance.now() - startMs) / 1000;
  return [result, { seconds, processorSeconds: processorSecondsOf(roots) - before, peakBytes }];
}
