// How a process ended, and whether it was its own doing. A signal that others send is nobody's fault, with one exception:
// the kernel, which ends a process that takes too much memory by the SIGKILL that anyone may send, and counts that.
import { readFileSync } from 'node:fs';
import type { ProcessEnd } from './engine-lost.ts';

/** A process does not send itself these: crashes are SIGSEGV, SIGABRT, SIGBUS, SIGILL. */
const SENT_BY_OTHERS: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'];

export interface ExitFacts {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it said before, if anything. */
  readonly lastWords: string | null;
  /** Why its own supervisor killed it; null: it did not. */
  readonly silence: string | null;
  /** `countOomKills()` before the process and after it. */
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

/** Processes that the kernel has ended for their memory since it started, containers included; null: it does not say. */
export function countOomKills(): number | null {
  try {
    const count = /^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'));
    return count ? Number(count[1]) : null;
  } catch {
    return null; // not Linux
  }
}
