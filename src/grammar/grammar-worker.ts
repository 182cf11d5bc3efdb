// A grammar thread as seen from the engine's thread: every call has a deadline, which starts when the thread has started. After
// a thread is lost, it reports which text the thread was working on.
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import pTimeout from 'p-timeout';
import type { Log } from '#base/log';
import { startThread } from '#base/start-thread';
import {
  sinceMs,
  WORKING_BYTES,
  WORKING_FOR,
  WORKING_SINCE,
  type Answer,
  type FromThread,
  type ThreadData,
  type ToThread,
} from './thread-messages.ts';

export interface GrammarWorker {
  readonly lost: boolean;
  /** After the thread is lost: the id of the message that it was working on; 0: none. */
  readonly guilty: number;
  /** How long the thread has been working on the current message; null: it is idle. */
  workedMs(): number | null;
  /** Resolves when the thread has started or is lost. */
  readonly started: Promise<void>;
  nextId(): number;
  /** Resolves with `late` if no answer came within the deadline, and with `lost` if the thread ended or never started. Does not throw. */
  ask(message: ToThread, deadlineMs: number): Promise<Answer | 'late' | 'lost'>;
  tell(message: ToThread): void;
  end(): Promise<void>;
}

const LATE = 'late' as const;

/** Loading the library and reading a vocabulary takes a second or two, more on a busy machine. */
const START_MS = 60_000;

const THREAD = new URL(`./grammar-thread${extname(fileURLToPath(import.meta.url))}`, import.meta.url);

export function startGrammarWorker(data: Omit<ThreadData, 'working'>, log: Log): GrammarWorker {
  const working = new Int32Array(new SharedArrayBuffer(WORKING_BYTES));
  const worker = startThread(THREAD, {
    workerData: { ...data, working: working.buffer } satisfies ThreadData,
    name: 'grammar',
  });
  const waiting = new Map<number, (answer: Answer | 'lost') => void>();
  let markStarted = () => {};
  const started = new Promise<void>((resolve) => (markStarted = resolve));
  let count = 0;
  let lost = false;
  let guilty = 0;
  worker.unref();
  worker.on('message', (message: FromThread) => {
    if (message.kind === 'ready') markStarted();
    else waiting.get(message.id)?.(message);
  });
  worker.on('error', (error) => lose(error.message));
  worker.on('exit', () => lose('it ended'));

  function lose(reason: string | null): void {
    if (!lost) {
      guilty = Atomics.load(working, WORKING_FOR);
      if (reason !== null) log.warn('grammar.thread_lost', { reason });
    }
    lost = true;
    markStarted();
    for (const answer of waiting.values()) answer('lost');
  }

  async function end(): Promise<void> {
    lose(null);
    await worker.terminate();
  }

  return {
    get lost() {
      return lost;
    },
    get guilty() {
      return guilty;
    },
    workedMs: () => (Atomics.load(working, WORKING_FOR) === 0 ? null : sinceMs(Atomics.load(working, WORKING_SINCE))),
    started,
    nextId: () => ++count,
    async ask(message, deadlineMs) {
      if (lost) return 'lost';
      const answered = new Promise<Answer | 'lost'>((resolve) => waiting.set(message.id, resolve));
      worker.postMessage(message);
      try {
        const hasStarted = await pTimeout(
          started.then(() => true),
          { milliseconds: START_MS, fallback: () => false },
        );
        if (!hasStarted) await end(); // it never started: no grammar is at fault
        return await pTimeout(answered, { milliseconds: deadlineMs, fallback: () => LATE });
      } finally {
        waiting.delete(message.id);
      }
    },
    tell: (message) => worker.postMessage(message),
    end,
  };
}
