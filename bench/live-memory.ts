// What a Node process holds when its garbage is collected, asked over its inspector: what has leaked, which resident bytes cannot tell
// from a heap that has grown to its load and from what the allocator keeps of what was freed. Its threads' heaps are not counted.
import { WebSocket } from 'ws';

export interface LiveMemory {
  /** The last argument of its command: `inference`, `training`; `server` for the server. */
  readonly process: string;
  /** Of JavaScript: what is alive, and what V8 has taken for it. */
  readonly heapBytes: number;
  readonly committedBytes: number;
  /** Buffers and typed arrays. */
  readonly externalBytes: number;
}

/** A collection of some hundred megabytes takes half a second. */
const ANSWER_MS_MAX = 30_000;
const PROCESS = "process.argv.includes('serve') ? 'server' : process.argv.at(-1)";
const QUESTION = `(({ heapUsed, heapTotal, external }) =>
  ({ process: ${PROCESS}, heapBytes: heapUsed, committedBytes: heapTotal, externalBytes: external }))(process.memoryUsage())`;

/** `inspectors`: URLs of those that listen, or did. Who has ended is left out. */
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
    // Twice: what the first one finalizes, the second one frees.
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
