// What a server and its engines have taken of the processors, which tells what work costs also where others work beside it. Linux.
import { readFileSync } from 'node:fs';
import { childrenOf } from './process-memory.ts';

/** Linux counts in hundredths, whatever the processor. */
const TICKS_PER_SECOND = 100;
/** Of /proc/PID/stat, behind the name in brackets, which may have spaces. */
const [USER, SYSTEM] = [11, 12];

/** Of all threads, since they started. */
export function processorSecondsOf(serverPid: number): number {
  const pids = [serverPid, ...Object.values(childrenOf(serverPid))];
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return sum + (Number(fields[USER]) + Number(fields[SYSTEM])) / TICKS_PER_SECOND;
  }, 0);
}
