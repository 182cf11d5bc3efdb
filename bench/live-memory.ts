// What a Node process holds after garbage collection, read over its inspector: shows leaks, which resident bytes cannot distinguish from a
// heap that has grown to its load and from freed memory that the allocator keeps. Heaps of its threads are not counted.
import { WebSocket } from 'ws';

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
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const late = setTimeout(() => socket.terminate(), ANSWER_MS_MAX);
  try {
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    let count = 0;
    const call = (method: string, params: object = {}): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const id = ++count;
        socket.on('message', (data: Buffer) => {
          const answer = JSON.parse(data.toString()) as { id?: number; result?: unknown; error?: { message: string } };
          if (answer.id !== id) return;
          if (answer.error) reject(new Error(`${method}: ${answer.error.message}`));
          else resolve(answer.result);
        });
        socket.once('close', () => reject(new Error(`${url} has gone`)));
        socket.send(JSON.stringify({ id, method, params }));
      });
    // Twice: the second collection frees what the first one finalizes.
    for (let i = 0; i < 2; i++) await call('HeapProfiler.collectGarbage');
    const { result } = (await call('Runtime.evaluate', { expression: QUESTION, returnByValue: true })) as {
      result: { value: LiveMemory };
    };
    return result.value;
  } finally {
    clearTimeout(late);
    socket.terminate();
  }
}
