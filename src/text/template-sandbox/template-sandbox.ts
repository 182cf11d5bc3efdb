// Chat templates that come with requests. They are programs of strangers: they run in a thread with little memory and a
// deadline, and a thread that misses it is replaced. The model's own template is its makers' and runs in chat-template.ts.
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { openThread } from '#base/open-thread';
import { AppError } from '#domain/errors';
import type { RenderRequest } from '../chat-template.ts';
import type { RenderCall, Rendered } from './template-thread.ts';

export interface TemplateLimits {
  readonly sourceLengthMax: number;
  readonly outputLengthMax: number;
  /** For one prompt, behind those that wait before it. */
  readonly renderMs: number;
  readonly heapMb: number;
  /** Requests that wait for the thread. */
  readonly waitingMax: number;
}

const DEFAULT_LIMITS: TemplateLimits = {
  sourceLengthMax: 256 * 1024, // the longest published ones have 20 kB
  outputLengthMax: 8 * 1024 * 1024, // more than any context
  renderMs: 2_000, // a long conversation takes 20 ms
  heapMb: 128,
  waitingMax: 64,
};

export interface TemplateSandbox {
  /** Throws `invalid_request` (the template's fault), `too_many_requests`, `cancelled`. */
  render(
    source: string,
    namedTokens: ReadonlyMap<string, string>,
    request: RenderRequest,
    signal: AbortSignal,
  ): Promise<string>;
  close(): Promise<void>;
}

const THREAD = new URL(`./template-thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url);

export function createTemplateSandbox(given: Partial<TemplateLimits> = {}): TemplateSandbox {
  const limits = { ...DEFAULT_LIMITS, ...given };
  let thread: Worker | null = null;
  let waiting = 0;
  let count = 0;
  /** One after the other, so that the deadline is each one's own. */
  let last: Promise<unknown> = Promise.resolve();

  async function run(call: RenderCall, signal: AbortSignal): Promise<string> {
    if (signal.aborted) throw new AppError('cancelled', 'The request was cancelled.', { cause: signal.reason });
    thread ??= start();
    const rendered = await ask(thread, call);
    if (typeof rendered !== 'string' && 'text' in rendered) return rendered.text;
    if (typeof rendered !== 'string') throw fault(rendered.fault, rendered.param);
    await thread?.terminate();
    thread = null;
    throw fault(rendered);
  }

  function start(): Worker {
    const worker = openThread(THREAD, { name: 'chat template', resourceLimits: { maxOldGenerationSizeMb: limits.heapMb } });
    worker.unref();
    worker.on('error', () => {}); // told to whoever waits, in ask()
    worker.on('exit', () => {
      if (thread === worker) thread = null;
    });
    return worker;
  } // prettier-ignore

  /** A text: why there is no answer. */
  function ask(worker: Worker, call: RenderCall): Promise<Rendered | string> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(`It took longer than ${limits.renderMs / 1000} s.`), limits.renderMs);
      const onMessage = (rendered: Rendered) => end(rendered);
      const onExit = () => end(`It needs more than ${limits.heapMb} MB, or crashed.`);
      const end = (answer: Rendered | string) => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('exit', onExit);
        resolve(answer);
      };
      worker.on('message', onMessage).on('exit', onExit);
      worker.postMessage(call);
    });
  }

  return {
    async render(source, namedTokens, request, signal) {
      if (source.length > limits.sourceLengthMax)
        throw fault(`It has ${source.length} characters; at most ${limits.sourceLengthMax} are read.`);
      if (waiting >= limits.waitingMax) {
        const message = `${waiting} requests wait for their chat templates. Try again later.`;
        throw new AppError('too_many_requests', message, { retryAfterSeconds: 1 });
      }
      const call = { id: ++count, source, namedTokens, request, outputLengthMax: limits.outputLengthMax };
      waiting++;
      const turn = last.then(() => run(call, signal));
      last = turn.catch(() => undefined);
      return turn.finally(() => waiting--);
    },
    async close() {
      await thread?.terminate();
    },
  };
}

const fault = (reason: string, param = 'chat_template'): AppError =>
  new AppError('invalid_request', `The chat template of this request cannot be used. ${reason}`, { param });
