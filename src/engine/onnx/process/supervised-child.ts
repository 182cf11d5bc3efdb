// Keeps one engine process alive: starts it, checks it by a heartbeat, replaces it when it dies or hangs, and stops it with us.
// Calls that were lost with a process fail with the reason; the caller decides whether to repeat them.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { createChanges } from '#base/changes';
import { AppError, publicError } from '#domain/errors';
import type { Log } from '#base/log';
import { EngineLost, type ProcessEnd } from '../../engine-lost.ts';
import type { EngineConnection, LiveEngine } from '../../rpc/engine-connection.ts';
import { LOG_NOTICE, writeLog, type LifecycleProcedures, type LogLine } from '../../rpc/lifecycle-procedures.ts';
import { countOomKills, processEnd, type ExitFacts } from '../../process-end.ts';
import { createRpcClient, type RpcClient } from '../../rpc/rpc-client.ts';
import type { Procedures, ToClient } from '../../rpc/rpc-messages.ts';

export interface ChildTimings {
  /** Time to read the weights and compile the graph of a large model. */
  readonly startMs: number;
  /** Interval between pings. */
  readonly heartbeatMs: number;
  /** A ping is answered between two engine steps; a child that is silent for longer than any step takes is hanging. */
  readonly hangMs: number;
  /** Time from asking a child to stop until it is killed. */
  readonly stopMs: number;
  /** How long a request waits for a child that is being replaced. */
  readonly readyMs: number;
  /** Delays before consecutive restarts; the last one repeats. */
  readonly restartDelaysMs: readonly number[];
  /** A child that lived this long resets the delays. */
  readonly healthyMs: number;
}

export interface SupervisedChildOptions<Options> {
  /** The name used in log lines and messages. */
  readonly name: string;
  readonly fork: () => ChildProcess;
  readonly start: Options;
  readonly timings: ChildTimings;
  readonly log: Log;
  readonly onNotice?: (name: string, payload: unknown) => void;
}

export interface SupervisedChild<P extends Procedures<P>, Ready> extends EngineConnection<P, Ready> {
  status(): { ready: boolean; restarts: number; lastFailure: string | null; pid: number | null };
}

/** Resolves when the first process is ready. Rejects, and leaves no process behind, if it cannot start. */
export async function openSupervisedChild<P extends Procedures<P>, Options, Ready>(
  options: SupervisedChildOptions<Options>,
): Promise<SupervisedChild<P, Ready>> {
  type Lifecycle = RpcClient<LifecycleProcedures<Options, Ready>>;
  interface StartedChild {
    readonly lifecycle: Lifecycle;
    /** Why the process is gone. */
    readonly exited: Promise<string>;
    /** The process was killed because it did not answer. */
    readonly kill: (silence: string) => void;
    readonly readyAtMs: number;
  }
  const { name, timings, log } = options;
  let live: (LiveEngine<P, Ready> & { readonly lifecycle: Lifecycle }) | null = null;
  let process: ChildProcess | null = null;
  let restarts = 0;
  let lastFailure: string | null = null;
  const closing = new AbortController();
  const becameReady = createChanges();

  const first = await startChild();
  const supervision = superviseFrom(first);

  /** Forks the child, and waits until the engine is open. */
  async function startChild(): Promise<StartedChild> {
    const startedAtMs = performance.now();
    const oomKillsBefore = countOomKills();
    const child = options.fork();
    process = child;
    const rpc = createRpcClient<P>({
      send: (message) => {
        if (child.connected) child.send(message, () => {}); // a missing answer shows that it did not arrive
      },
      receive: (handler) => child.on('message', (message) => handler(message as ToClient)),
    });
    const lifecycle = rpc as unknown as Lifecycle; // every child has these procedures in addition to its own
    let lastWords: string | null = null;
    let silence: string | null = null;
    rpc.onNotice((notice, payload) => {
      if (notice === LOG_NOTICE) writeLog(log, payload as LogLine);
      else if (notice === 'fatal') lastWords = payload as string;
      else options.onNotice?.(notice, payload);
    });
    const exited = whenExited(child).then((exit) => {
      const oomKills = { before: oomKillsBefore, after: countOomKills() };
      const end: ProcessEnd =
        exit instanceof Error
          ? { how: `could not be started (${exit.message})`, byOthers: false }
          : processEnd({ ...exit, lastWords, silence, oomKills });
      process = null;
      if (live?.rpc === rpc) live = null; // first, so that a repeated call waits for the next process
      rpc.fail(new EngineLost(name, end));
      return end.how;
    });
    const kill = (reason: string) => {
      silence = reason;
      child.kill('SIGKILL');
    };
    try {
      const { result } = lifecycle.call('start', options.start, { timeoutMs: timings.startMs });
      const ready = await result;
      live = { rpc, lifecycle, ready };
      becameReady.changed();
      const event = restarts === 0 ? 'engine.started' : 'engine.restarted';
      log.info(event, { engine: name, pid: child.pid, restarts, startMs: Math.round(performance.now() - startedAtMs) });
      return { lifecycle, exited, kill, readyAtMs: performance.now() };
    } catch (error) {
      child.kill('SIGKILL');
      await exited;
      throw error;
    }
  }

  async function superviseFrom(first: StartedChild): Promise<void> {
    let current: StartedChild | null = first;
    let failuresInARow = 0;
    while (current) {
      const reason = await whenLost(current);
      if (closing.signal.aborted) return;
      failuresInARow = performance.now() - current.readyAtMs > timings.healthyMs ? 1 : failuresInARow + 1;
      recordFailure(reason);
      current = await replace();
    }

    async function replace(): Promise<StartedChild | null> {
      while (!closing.signal.aborted) {
        const delayMs = timings.restartDelaysMs[Math.min(failuresInARow, timings.restartDelaysMs.length) - 1] ?? 0;
        try {
          await delay(delayMs, undefined, { signal: closing.signal });
          restarts++;
          return await startChild();
        } catch (error) {
          if (closing.signal.aborted) return null;
          failuresInARow++;
          recordFailure(`could not be restarted: ${publicError(error).message}`, error);
        }
      }
      return null;
    }
  }

  async function whenLost({ lifecycle, exited, kill }: StartedChild): Promise<string> {
    const heartbeat = new AbortController();
    const hang = watch(lifecycle, heartbeat.signal).then((silence) => silence !== null && kill(silence));
    const reason = await exited;
    heartbeat.abort();
    await hang;
    return reason;
  }

  /** `reason` is shown to clients. */
  function recordFailure(reason: string, error?: unknown): void {
    lastFailure = reason;
    log.error('engine.exited', { engine: name, reason, restarts, ...(error === undefined ? {} : { err: error }) });
  }

  /** Null when stopped; otherwise why the child must be replaced. Requires two silences in a row: one may be a laptop waking up. */
  async function watch(lifecycle: Lifecycle, signal: AbortSignal): Promise<string | null> {
    let silences = 0;
    while (silences < 2) {
      try {
        await delay(timings.heartbeatMs, undefined, { signal, ref: false });
        await lifecycle.call('ping', null, { timeoutMs: timings.hangMs / 2 }).result;
        silences = 0;
      } catch {
        if (signal.aborted) return null;
        silences++;
      }
    }
    return `did not answer for ${timings.hangMs} ms`;
  }

  function unavailable(message: string): AppError {
    return new AppError('engine_unavailable', `${message} Try again.`, { retryAfterSeconds: 1 });
  }

  return {
    async whenReady(signal) {
      if (live !== null) return live;
      const deadline = AbortSignal.timeout(timings.readyMs);
      const stop = AbortSignal.any([deadline, closing.signal, ...(signal ? [signal] : [])]);
      while (live === null && !stop.aborted) await becameReady.next(stop);
      if (signal?.aborted) throw new AppError('cancelled', 'The request was cancelled.', { cause: signal.reason });
      if (closing.signal.aborted) throw unavailable(`The ${name} engine is closed.`);
      if (live === null) throw unavailable(`The ${name} engine is restarting: its process ${lastFailure}.`);
      return live;
    },
    status: () => ({ ready: live !== null, restarts, lastFailure, pid: process?.pid ?? null }),
    async close() {
      if (closing.signal.aborted) return supervision;
      closing.abort();
      const child = process;
      const killer = setTimeout(() => child?.kill('SIGKILL'), timings.stopMs);
      live?.lifecycle.call('stop', null, { timeoutMs: timings.stopMs }).result.then(
        () => child?.disconnect(),
        () => child?.kill('SIGKILL'),
      );
      if (live === null) child?.kill('SIGKILL');
      await supervision;
      clearTimeout(killer);
    },
  };
}

/** For a channel that stays open after its process has ended, because another process inherited it. */
const DRAIN_MS = 1_000;

/** Resolves when the process is gone and everything it sent has been read. */
function whenExited(child: ChildProcess): Promise<Pick<ExitFacts, 'code' | 'signal'> | Error> {
  return new Promise((resolve) => {
    child.on('error', resolve); // it could not be started
    child.once('exit', (code, signal) => {
      const exit = { code, signal };
      if (!child.connected) return resolve(exit);
      child.once('disconnect', () => resolve(exit));
      setTimeout(() => resolve(exit), DRAIN_MS).unref();
    });
  });
}
