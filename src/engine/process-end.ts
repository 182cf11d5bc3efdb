// How a process ended, and whether it caused its own end. A signal from outside is not its fault, with one exception: the kernel
// kills a process that uses too much memory by SIGKILL, like any other sender, but it also counts these kills.
import { readFileSync } from 'node:fs';
import type { ProcessEnd } from './engine-lost.ts';

/** Signals that a process does not cause itself: crashes are SIGSEGV, SIGABRT, SIGBUS, SIGILL. */
const SENT_BY_OTHERS: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'];

export interface ExitFacts {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Its last output, if any. */
  readonly lastWords: string | null;
  /** Why its own supervisor killed it; null if it did not. */
  readonly silence: string | null;
  /** `countOomKills()` before the process started and after it ended. */
  readonly oomKills: { readonly before: number | null; readonly after: number | null };
}

export function processEnd({ code, signal, lastWords, silence, oomKills: { before, after } }: ExitFacts): ProcessEnd {
  const isCounted = before !== null && after !== null;
  const ranOutOfMemory = signal === 'SIGKILL' && silence === null && isCounted && after > before;
  const exited = signal ? `was killed by ${signal}` : `exited with code ${code}`;
  const how = [
    silence === null ? '' : `${silence} and `,
    exited,
    ranOutOfMemory ? ', as the machine or its container ran out of memory' : '',
    lastWords === null ? '' : `: ${lastWords}`,
  ].join('');
  const maybeKernel = signal === 'SIGKILL' && (ranOutOfMemory || !isCounted);
  const byOthers = signal !== null && SENT_BY_OTHERS.includes(signal) && silence === null && !maybeKernel;
  return { how, byOthers };
}

/** Processes that the kernel killed for memory since boot, containers included; null if the kernel does not report it. */
export function countOomKills(): number | null {
  try {
    const count = /^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'));
    return count ? Number(count[1]) : null;
  } catch {
    return null; // not Linux
  }
}
