// Processor time used by a server and its engines, which shows the cost of work even on a busy machine. Linux.
import { processorMsOf } from '../scripts/processor-ms.ts';
import { childrenOf } from './process-memory.ts';

/** Of all threads, since they started. */
export function processorSecondsOf(serverPid: number): number {
  return (processorMsOf(serverPid) + enginesMs(serverPid)) / 1_000;
}

/** The same, apart. */
export const processorMsByProcess = (serverPid: number) => ({
  server: processorMsOf(serverPid),
  engines: enginesMs(serverPid),
});

const enginesMs = (serverPid: number): number =>
  Object.values(childrenOf(serverPid)).reduce((sum, pid) => sum + processorMsOf(pid), 0);
