// The server's side of one process that renders templates of requests: each request has a deadline, which starts when the process is ready.
// After a missed deadline or a lost process, the process is ended, and the next request opens another.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import pTimeout from 'p-timeout';
import type { FromTemplateProcess, RenderCall, Rendered } from './template-process.ts';

export interface TemplateChild {
  /** A string says why there is no answer, and who caused it. Only one request at a time. */
  ask(call: Omit<RenderCall, 'orphanMs'>): Promise<Rendered | Loss>;
  readonly lost: boolean;
  close(): Promise<void>;
}

/** `late` and `crashed` are the template's fault, `gone` is not. */
export type Loss = 'late' | 'crashed' | 'gone';

/** Starting takes a tenth of a second, and far more on an overloaded machine. */
const START_MS = 20_000;
/** The process's own deadline, relative to ours. */
const ORPHAN_FACTOR = 2;

const ENTRY = new URL(`./template-process${extname(fileURLToPath(import.meta.url))}`, import.meta.url);

export function openTemplateChild({ renderMs, heapMb }: { renderMs: number; heapMb: number }): TemplateChild {
  const child = fork(ENTRY, [], {
    execArgv: [...process.execArgv, `--max-old-space-size=${heapMb}`],
    env: {}, // templates must not see keys and passwords of the server
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'], // a crash of V8 prints a page
  });
  const ended = whenEnded(child);
  const heard = new AbortController();
  const next = () =>
    once(child, 'message', heard).then(
      ([message]) => message as FromTemplateProcess,
      () => null,
    );
  const started = next();
  let lost = false;
  void ended.then(() => {
    lost = true;
    heard.abort();
  });
  child.unref();
  child.channel?.unref();

  return {
    get lost() {
      return lost;
    },
    async ask(call) {
      const isReady = await pTimeout(started, { milliseconds: START_MS, fallback: () => null });
      if (isReady === null) return 'gone';
      const answered = next();
      child.send({ ...call, orphanMs: ORPHAN_FACTOR * renderMs } satisfies RenderCall, () => {});
      const answer = await pTimeout(answered, { milliseconds: renderMs, fallback: () => 'late' as const });
      if (answer === null) return (await ended) ? 'crashed' : 'gone';
      return answer as Rendered | 'late';
    },
    async close() {
      child.ref(); // keeps this process alive until the end is known
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Resolves when the process has ended, with whether it ended by itself. A template cannot send signals; other processes and the kernel can. */
function whenEnded(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    child.on('error', () => child.pid === undefined && resolve(false)); // it could not be started
    child.once('exit', (_code, signal) => resolve(signal !== 'SIGKILL' && signal !== 'SIGTERM'));
  });
}
