import { existsSync, readFileSync } from 'node:fs';

const CLOCK_TICKS_PER_SECOND = 100; // USER_HZ, which Linux has everywhere

/** Of processes that this one started and that have ended, and of their descendants; 0 where the system does not say. */
export function childrenProcessorSeconds(): number {
  if (!existsSync('/proc/self/stat')) return 0;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' '); // proc(5): the name may hold anything
  const [user, system] = [fields[13], fields[14]]; // cutime, cstime
  return (Number(user) + Number(system)) / CLOCK_TICKS_PER_SECOND;
}

/** Of this process and those. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childrenProcessorSeconds();
}
