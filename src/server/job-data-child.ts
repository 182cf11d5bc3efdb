// The process that reads the data of training jobs, as the server sees it: started with the first job that has much data, and
// kept for jobs that soon follow. It has its own memory: data that is too large ends this process and its job, and nothing
// else, and the job's error says so. If the process was ended from outside, the data is not the cause, and the job tries again.
import { fork, type ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { AppError, type ErrorCode } from '#domain/errors';
import { countOomKills, processEnd } from '#engine/process-end';
import type { ReadData } from '#services/jobs/data/job-data-reader';
import type { DataKind } from '#services/jobs/data/read-job-data';

export type ToReader =
  | { readonly kind: DataKind; readonly call: unknown }
  /** Null: no more data follows. */
  | { readonly chunk: Uint8Array | null }
  | { readonly taken: true };

export type FromReader =
  | 'more'
  | { readonly piece: unknown }
  | { readonly result: unknown }
  | { readonly code: ErrorCode; readonly message: string; readonly param: string | null };

export interface JobDataChild {
  readonly read: ReadData;
  close(): Promise<void>;
}

export interface ReaderModel {
  readonly directory: string;
  readonly id: string;
  readonly vocabSize: number;
  /** A file that replaces the model's own; null: the model's own. */
  readonly template: string | null;
}

/** The process holds a second copy of the tokenizer. */
const IDLE_MS = 60_000;
/** Longer than the longest conversation takes between two messages of the process. */
const SILENT_MS = 10 * 60_000;

/** V8 aborts if its heap is full; the kernel kills. Other ends are crashes, unrelated to memory. */
const MEMORY_SIGNALS: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGKILL'];

const ENTRY = new URL(`./job-data-process${extname(fileURLToPath(import.meta.url))}`, import.meta.url);

export function createJobDataChild({ directory, id, vocabSize, template }: ReaderModel): JobDataChild {
  let idle: Reader | null = null;
  let idleTimer: NodeJS.Timeout | null = null;

  function take(): Reader {
    if (idleTimer) clearTimeout(idleTimer);
    const reader = idle?.isAlive() ? idle : startReader([directory, id, String(vocabSize), template ?? '']);
    idle = null;
    return reader;
  }

  /** A single process: if it dies while it reads two jobs, the second one ends too. */
  function keep(reader: Reader): void {
    if (idle) return void reader.end();
    idle = reader;
    idleTimer = setTimeout(() => void reader.end(), IDLE_MS).unref();
  }

  return {
    async read(kind, call, content, put, signal) {
      const reader = take();
      const cancel = () => reader.giveUp(new AppError('cancelled', 'The job is no longer needed.'));
      if (signal.aborted) cancel();
      else signal.addEventListener('abort', cancel);
      const chunks = content[Symbol.asyncIterator]();
      let isFree = false;
      try {
        reader.say({ kind, call });
        for (;;) {
          const heard = await reader.hear();
          if (heard === 'more') {
            const next = await chunks.next();
            reader.say({ chunk: next.done ? null : next.value });
          } else if ('piece' in heard) {
            await put(heard.piece as never);
            reader.say({ taken: true });
          } else {
            isFree = true;
            if ('result' in heard) return heard.result as never;
            throw new AppError(heard.code, heard.message, heard.param === null ? {} : { param: heard.param });
          }
        }
      } finally {
        signal.removeEventListener('abort', cancel);
        await chunks.return?.();
        if (isFree) keep(reader);
        else await reader.end();
      }
    },
    async close() {
      if (idleTimer) clearTimeout(idleTimer);
      await idle?.end();
    },
  };
}

interface Reader {
  isAlive(): boolean;
  say(message: ToReader): void;
  /** Throws what the end of the process means for the job. */
  hear(): Promise<FromReader>;
  /** All waiting callers get this error. */
  giveUp(reason: AppError): void;
  end(): Promise<void>;
}

function startReader(args: readonly string[]): Reader {
  const before = countOomKills();
  const child: ChildProcess = fork(ENTRY, args, {
    env: pickEnv(), // without the keys and passwords of the server
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'], // a crash of V8 prints a page
  });
  child.unref();
  child.channel?.unref();
  let reason: AppError | null = null;
  let settle: (heard: FromReader | AppError) => void = () => {};
  const giveUp = (why: AppError) => settle((reason ??= why));
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      if (child.pid !== undefined) return;
      giveUp(lost(`could not be started: ${error.message}`));
      resolve();
    });
    child.once('exit', (code, signal) => {
      const oomKills = { before, after: countOomKills() };
      const { how, byOthers } = processEnd({ code, signal, lastWords: null, silence: null, oomKills });
      giveUp(byOthers ? lost(how) : MEMORY_SIGNALS.includes(signal) ? tooMuch(how) : crashed(how));
      resolve();
    });
  });
  child.on('message', (message) => settle(message as FromReader));
  return {
    isAlive: () => reason === null,
    say: (message) => void child.send(message, () => {}),
    async hear() {
      if (reason) throw reason;
      const silence = setTimeout(() => giveUp(tooLong()), SILENT_MS);
      const heard = await new Promise<FromReader | AppError>((resolve) => (settle = resolve));
      clearTimeout(silence);
      if (heard instanceof AppError) throw heard;
      return heard;
    },
    giveUp,
    async end() {
      child.ref(); // keeps this process alive until the child's end has been observed
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const pickEnv = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    ['NODE_OPTIONS', 'TZ'].flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
  );

const lost = (how: string): AppError =>
  new AppError('engine_unavailable', `The process that reads the job's data ${how}.`);

const tooMuch = (how: string): AppError =>
  new AppError(
    'invalid_training_data',
    `The process that reads the job's data ${how}: the data needs more than its ${heapMb()} MB of memory. ` +
      'Send shorter conversations, or smaller groups. The operator can give more with NODE_OPTIONS=--max-old-space-size=MB.',
  );

const crashed = (how: string): AppError =>
  new AppError(
    'invalid_training_data',
    `The process that reads the job's data ${how}: it crashed on this data, but not for lack of memory. ` +
      'Submit the job again; if it fails again, find the faulty row by submitting the data in parts.',
  );

const tooLong = (): AppError =>
  new AppError(
    'invalid_training_data',
    `The process that reads the job's data did not respond for ${SILENT_MS / 60_000} minutes, because a conversation takes longer to process. Send shorter conversations.`,
  );

/** The process inherits the options of this one. */
const heapMb = (): number => Math.round(getHeapStatistics().heap_size_limit / 2 ** 20);
