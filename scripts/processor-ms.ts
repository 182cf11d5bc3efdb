import { existsSync, readFileSync } from 'node:fs';

/** Processor time used so far, which a busy machine does not lengthen. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** The same of another process and all its threads, in steps of 10 ms. Linux only. */
export function processorMsOf(pid: number): number {
  const fields = statOf(pid);
  return TICK_MS * (Number(fields[11]) + Number(fields[12])); // utime, stime
}

/** Of processes that this one started and that have ended, and of their descendants; 0 where the system does not say. */
export function childrenProcessorMs(): number {
  if (!existsSync('/proc/self/stat')) return 0;
  const fields = statOf('self');
  return TICK_MS * (Number(fields[13]) + Number(fields[14])); // cutime, cstime
}

const TICK_MS = 10; // USER_HZ is 100 everywhere on Linux

/** proc(5), without the id and the name, which may hold anything. */
const statOf = (pid: number | 'self'): string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
