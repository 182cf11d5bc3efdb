// What a Node process holds after garbage collection, read over its inspector: shows leaks, which resident bytes cannot distinguish from a
// heap that has grown to its load and from freed memory that the allocator keeps. Heaps of its threads are not counted.
import { setTimeout as delay } from 'node:timers/promises';
import { inspect, type Inspected } from './inspected.ts';

export interface LiveMemory {
  /** The last argument of its command: `inference`, `training`; `server` for the server. */
  readonly process: string;
  /** JavaScript heap: live bytes, and bytes that V8 has reserved. */
  readonly heapBytes: number;
  readonly committedBytes: number;
  /** Buffers and typed arrays. */
  readonly externalBytes: number;
}

/** Collecting some hundred megabytes takes half a second. */
const ANSWER_MS_MAX = 30_000;
const PROCESS = "process.argv.includes('serve') ? 'server' : process.argv.at(-1)";
const QUESTION = `(({ heapUsed, heapTotal, external }) =>
  ({ process: ${PROCESS}, heapBytes: heapUsed, committedBytes: heapTotal, externalBytes: external }))(process.memoryUsage())`;

/** `inspectors`: URLs of processes that listen or did. Ended processes are left out. */
export async function collectLiveMemory(inspectors: readonly string[]): Promise<LiveMemory[]> {
  const asked = await Promise.all(inspectors.map((url) => askLiveMemory(url).catch(() => null)));
  return asked.filter((answer) => answer !== null);
}

async function askLiveMemory(url: string): Promise<LiveMemory> {
  const inspected = await inspect(url);
  const late = delay(ANSWER_MS_MAX, null, { ref: false }).then(() => inspected.close());
  try {
    return await Promise.race([ask(inspected), late.then(() => Promise.reject(new Error(`${url} does not answer`)))]);
  } finally {
    inspected.close();
  }
}

async function ask(inspected: Inspected): Promise<LiveMemory> {
  // Twice: the second collection frees what the first one finalizes.
  for (let i = 0; i < 2; i++) await inspected.call('HeapProfiler.collectGarbage');
  return (await inspected.evaluate(QUESTION)) as LiveMemory;
}
