// Prompts that take long to render and encode are made in a thread per model, so that other requests are answered meanwhile. Short ones are
// made by the caller's thread, which is faster. The thread starts with the first long prompt and ends after a while without any, because
// it holds a second copy of the tokenizer. Its queue is fair to payers.
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import pTimeout from 'p-timeout';
import { startThread } from '#base/start-thread';
import { AppError, type ErrorCode } from '#domain/errors';
import { createTextQueue, type OnBehalf, type QueueLimits } from '../text-queue.ts';
import { makePrompt, type MadePrompt, type PromptCall, type PromptMaker } from './make-prompt.ts';

export interface Prompts {
  /** Throws what the template throws, `too_many_requests`, `cancelled`. */
  make(call: PromptCall, by: OnBehalf): Promise<MadePrompt>;
}

/** Tokens are packed; errors lose their class. */
export type FromPromptThread =
  | { readonly text: string; readonly tokens: Int32Array | null }
  | { readonly code: ErrorCode; readonly message: string; readonly param: string | null };

/** A million tokens take some seconds. */
const MAKE_MS = 60_000;
const IDLE_MS = 60_000;
const LIMITS: QueueLimits = { waitMs: 60_000, waitingMax: 256, waitingOfOneMax: 64 };

const THREAD = new URL(`./prompt-thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url);

/** The model directory. */
export interface PromptFiles {
  readonly directory: string;
  /** Replaces the model's own template; null: its own. */
  readonly template: string | null;
}

/** `here`: the same model, for this thread. */
export function createPrompts(files: PromptFiles, here: PromptMaker): Prompts {
  let thread: Worker | null = null;
  let idle: NodeJS.Timeout | null = null;
  /** One at a time, so that each has its own deadline. */
  const queue = createTextQueue(LIMITS, unmade);

  function start(): Worker {
    const worker = startThread(THREAD, { name: 'long prompts', workerData: files });
    worker.unref();
    worker.on('error', () => {}); // reported to the waiting caller, in ask()
    worker.on('exit', () => end(worker));
    return worker;
  }

  function end(worker: Worker | null): void {
    if (worker === null || thread !== worker) return;
    thread = null;
    void worker.terminate();
  }

  async function ask(call: PromptCall): Promise<FromPromptThread> {
    if (idle) clearTimeout(idle);
    const worker = (thread ??= start());
    const heard = new AbortController();
    const made = Promise.race([
      once(worker, 'message', heard).then(([message]) => message as FromPromptThread),
      once(worker, 'exit', heard).then(() => null),
    ]).catch(() => null);
    worker.postMessage(call);
    const answer = await pTimeout(made, { milliseconds: MAKE_MS, fallback: () => null });
    heard.abort();
    if (answer === null) {
      end(worker);
      throw unmade(`It took longer than ${MAKE_MS / 1000} s, or more memory than is available. Shorten it.`);
    }
    idle = setTimeout(() => end(worker), IDLE_MS).unref();
    return answer;
  }

  return {
    async make(call, by) {
      if (isShort(call)) return makePrompt(here, call);
      const made = await queue.run(by, () => ask(call));
      if ('text' in made) return { text: made.text, tokens: made.tokens && Array.from(made.tokens) };
      throw new AppError(made.code, made.message, made.param === null ? {} : { param: made.param });
    },
  };
}

const unmade = (why: string): AppError =>
  new AppError('too_many_requests', `The prompt could not be built. ${why}`, {
    param: 'messages',
    retryAfterSeconds: 5,
  });

/** Judged by characters and values: what takes at most a few hundredths of a second needs no thread. */
const SHORT_COST_MAX = 20_000;
const VALUE_COST = 30;

const isShort = (call: PromptCall): boolean => costOf(call, SHORT_COST_MAX) < SHORT_COST_MAX;

function costOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length;
  let cost = VALUE_COST;
  if (typeof value !== 'object' || value === null) return cost;
  for (const key in value) {
    if (cost >= most) return most;
    cost += key.length + costOf((value as Record<string, unknown>)[key], most - cost);
  }
  return cost;
}
