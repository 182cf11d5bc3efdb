// Prompts that take long to render and encode are made in a thread per model, so that other requests are answered meanwhile. Short ones are
// made by the caller's thread, which is faster, unless they prove slow too: a model's own template may loop, and the regular expressions
// of its tokenizer may backtrack without end. The thread starts with the first slow prompt and ends after a while without any, because
// it holds a second copy of the tokenizer. Its queue is fair to payers. A prompt that the thread could not make is refused for good.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import pTimeout from 'p-timeout';
import { pythonFormsWithin, type PythonForm } from '#base/python-form';
import { stringifySentJson } from '#base/sent-json';
import { startThread } from '#base/start-thread';
import { TimeLimitError, withinMs } from '#base/time-limit';
import { createSharedTurn } from '#base/yield-to-loop';
import { AppError, type ErrorCode } from '#domain/errors';
import { createTextQueue, type OnBehalf, type QueueLimits } from '../text-queue.ts';
import { makePrompt, type MadePrompt, type PromptCall, type PromptMaker } from './make-prompt.ts';

export interface Prompts {
  /** Throws what the template throws, `invalid_request` (it takes too long), `too_many_requests`, `cancelled`. */
  make(call: PromptCall, by: OnBehalf): Promise<MadePrompt>;
}

/** `forms`: on the values of the call. */
export interface ToPromptThread {
  readonly call: PromptCall;
  readonly forms: ReadonlyMap<object, PythonForm>;
}

/** Tokens are packed; errors lose their class. */
export type FromPromptThread =
  | { readonly text: string; readonly tokens: Int32Array | null }
  | { readonly code: ErrorCode; readonly message: string; readonly param: string | null };

export interface PromptTimes {
  /** How long one prompt may take in the thread. */
  readonly makeMs: number;
  /** How long a short one may keep the caller's thread, and with it every other request. */
  readonly hereMs: number;
}

/** A million tokens take some seconds; a short prompt takes a few hundredths of one. */
const TIMES: PromptTimes = { makeMs: 60_000, hereMs: 200 };
const NO_MEMORY = 'It needs more memory than is available';
const IDLE_MS = 60_000;
/** How long short prompts go to the thread after one of them was slow, or the machine was busy with something else. */
const DISTRUST_MS = 60_000;
/** Prompts that could not be made are refused at once when they are sent again: this many, this long. */
const REFUSED = { max: 1_024, ttl: 600_000 };
/** A busy machine may send all prompts to the thread for a while: room for a batch of RL of one key, as the queue of samplers has. */
const LIMITS: QueueLimits = { waitMs: 60_000, waitingMax: 4_096, waitingOfOneMax: 1_024 };

/** Of all models: they share this thread. */
const turn = createSharedTurn();

const THREAD = new URL(`./prompt-thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url);

/** The model directory. */
export interface PromptFiles {
  readonly directory: string;
  /** Replaces the model's own template; null: its own. */
  readonly template: string | null;
}

/** `here`: the same model, for this thread. */
export function createPrompts(files: PromptFiles, here: PromptMaker, { makeMs, hereMs }: PromptTimes = TIMES): Prompts {
  const refused = new LRUCache<string, string>(REFUSED);
  let distrustUntilMs = 0;
  let thread: Worker | null = null;
  let idle: NodeJS.Timeout | null = null;
  /** One at a time, so that each has its own deadline. */
  const queue = createTextQueue(LIMITS, waitedInVain);

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

  /** Null: it takes too long for this thread. */
  function makeHere(call: PromptCall): MadePrompt | null {
    if (performance.now() < distrustUntilMs || !isShort(call)) return null;
    try {
      return withinMs(hereMs, () => makePrompt(here, call));
    } catch (error) {
      if (!(error instanceof TimeLimitError)) throw error;
      distrustUntilMs = performance.now() + DISTRUST_MS;
      return null;
    }
  }

  function refuseAgain(call: PromptCall): void {
    const why = refused.size > 0 ? refused.get(digestOf(call)) : undefined;
    if (why !== undefined) throw unmade(why);
  }

  async function ask(call: PromptCall): Promise<FromPromptThread> {
    refuseAgain(call);
    if (idle) clearTimeout(idle);
    const worker = (thread ??= start());
    const heard = new AbortController();
    const made = Promise.race([
      once(worker, 'message', heard).then(([message]) => message as FromPromptThread),
      once(worker, 'exit', heard).then(() => NO_MEMORY),
    ]).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return NO_MEMORY;
      end(worker);
      throw error;
    });
    worker.postMessage({ call, forms: pythonFormsWithin(call) } satisfies ToPromptThread);
    const answer = await pTimeout(made, {
      milliseconds: makeMs,
      fallback: () => `Rendering the chat template and encoding its text took longer than ${makeMs / 1000} s`,
    });
    heard.abort();
    if (typeof answer === 'string') {
      end(worker);
      refused.set(digestOf(call), answer);
      throw unmade(answer);
    }
    idle = setTimeout(() => end(worker), IDLE_MS).unref();
    return answer;
  }

  return {
    async make(call, by) {
      for (let over = turn(); over; over = turn()) await over; // a request may have thousands of short prompts
      const madeHere = makeHere(call);
      if (madeHere) return madeHere;
      const made = await queue.run(by, () => ask(call));
      if ('text' in made) return { text: made.text, tokens: made.tokens && Array.from(made.tokens) };
      throw new AppError(made.code, made.message, made.param === null ? {} : { param: made.param });
    },
  };
}

/** Not worth a retry, so no client is told to try again. */
const unmade = (why: string): AppError =>
  new AppError('invalid_request', `The prompt could not be built. ${why}. Send a shorter or simpler one.`, {
    param: 'messages',
  });

const waitedInVain = (why: string): AppError =>
  new AppError('too_many_requests', `The prompt was not built. ${why}`, { retryAfterSeconds: 5 });

const digestOf = (call: PromptCall): string => createHash('sha256').update(stringifySentJson(call)).digest('base64');

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
