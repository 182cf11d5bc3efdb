// Processor time used by a server and its engines, which shows the cost of work even on a busy machine. Linux.
import { processorMsOf } from '../scripts/processor-ms.ts';
import { childrenOf } from './process-memory.ts';

/** Of all threads, since they started. */
export function processorSecondsOf(serverPid: number): number {
  const pids = [serverPid, ...Object.values(childrenOf(serverPid))];
  return pids.reduce((sum, pid) => sum + processorMsOf(pid), 0) / 1_000;
}
