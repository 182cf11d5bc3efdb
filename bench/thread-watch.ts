// How long the main thread of a Node process did not turn its event loop: what it computed and the disk that it waited for, without the time
// that it waited for a processor, which is for other work on the machine to answer. Linux. Optionally with a profile of what it computed.
import { writeFile } from 'node:fs/promises';
import { inspect } from './inspected.ts';

export interface ThreadWatch {
  /** The longest turn since the last question, ms. */
  longestTurn(): Promise<number>;
  startProfile(): Promise<void>;
  /** A .cpuprofile, for the browser's developer tools. */
  saveProfile(path: string): Promise<void>;
  close(): void;
}

/** A turn is counted from timer to timer: this long when nothing happens. */
const TURN_MS = 10;
/** The second number of schedstat is the time for which a thread was ready and had no processor, ns; the main thread has the id of the process. */
const WATCH = `globalThis.turnWatch ??= (() => {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const now = () => performance.now() - Number(readFileSync('/proc/self/task/' + process.pid + '/schedstat', 'latin1').split(' ')[1]) / 1e6;
  const watch = { longest: 0 };
  let before = now();
  setInterval(() => { const at = now(); watch.longest = Math.max(watch.longest, at - before); before = at; }, ${TURN_MS}).unref();
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
