// How long the main thread of a Node process was busy without turning its event loop, in processor time: what it computed itself, whatever
// else the machine did. Linux. Optionally with a profile of what it computed.
import { writeFile } from 'node:fs/promises';
import { inspect } from './inspected.ts';

export interface ThreadWatch {
  /** The longest turn since the last question, ms of processor time. */
  longestTurn(): Promise<number>;
  startProfile(): Promise<void>;
  /** A .cpuprofile, for the browser's developer tools. */
  saveProfile(path: string): Promise<void>;
  close(): void;
}

/** A turn is counted from timer to timer, so a shorter interval finds no longer turns. */
const TURN_MS = 10;
/** The first number of schedstat is the time on a processor, ns; the main thread has the id of the process. */
const WATCH = `globalThis.turnWatch ??= (() => {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const computed = () => Number(readFileSync('/proc/self/task/' + process.pid + '/schedstat', 'latin1').split(' ')[0]) / 1e6;
  const watch = { longest: 0 };
  let before = computed();
  setInterval(() => { const now = computed(); watch.longest = Math.max(watch.longest, now - before); before = now; }, ${TURN_MS}).unref();
  return watch;
})()`;

export async function watchThread(inspector: string): Promise<ThreadWatch> {
  const inspected = await inspect(inspector);
  await inspected.evaluate(`void (${WATCH})`);
  return {
    longestTurn: async () =>
      (await inspected.evaluate('(({ longest }) => ((turnWatch.longest = 0), longest))(turnWatch)')) as number,
    async startProfile() {
      await inspected.call('Profiler.enable');
      await inspected.call('Profiler.start');
    },
    async saveProfile(path) {
      const { profile } = (await inspected.call('Profiler.stop')) as { profile: object };
      await writeFile(path, JSON.stringify(profile));
    },
    close: () => inspected.close(),
  };
}
