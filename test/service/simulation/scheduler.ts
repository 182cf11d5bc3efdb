// One clock and one order of events for everything that a simulation runs. Code under test is real; wherever it would wait for a disk, a
// database, an engine or a timer, it waits here, and a seed decides how long. So a seed is a history: the same seed, the same history.
// Knows processes, which can be killed, frozen or disconnected at any such wait; knows nothing of jobs.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as realImmediate } from 'node:timers';
import { createRandom, type Random } from '#base/random';

/** A process of the simulated world. After its death nothing that it began goes on. */
export interface Process {
  readonly name: string;
  isAlive: boolean;
  /** It does nothing before this time: a frozen virtual machine, or a machine that swaps. */
  frozenUntilMs: number;
  /** Clients that wait for an answer of it. */
  readonly callers: Set<(lost: Error) => void>;
  readonly atDeath: (() => void)[];
}

interface Wait {
  readonly dueMs: number;
  readonly order: number;
  readonly process: Process;
  readonly label: string;
  readonly happen: () => unknown;
  readonly fail: (error: Error) => void;
  isCancelled: boolean;
}

/**
 * What the disturber may do at a wait: let it pass, or kill its process before or after what was waited for has happened, or report an error of
 * the disk or the connection, although it may have happened.
 */
export type Fate = 'passes' | 'dies before' | 'dies after' | 'fails before' | 'fails after';

export interface Scheduler {
  readonly random: Random;
  now(): number;
  /** The process whose code is running. */
  here(): Process;
  spawn(name: string): Process;
  kill(process: Process): void;
  /** Kills all processes. */
  end(): void;
  /** Runs `act` after `delayMs` on the clock, in the order of the clock; rejects if it throws. Ends never if the process dies. */
  wait<T>(label: string, delayMs: number, act: () => T | Promise<T>): Promise<T>;
  /** As `wait`, for an operation of a disk or a database that mostly takes a moment, and sometimes long. */
  point<T>(label: string, act: () => T | Promise<T>): Promise<T>;
  timer(callback: () => void, delayMs: number, everyMs: number | null): Cancellable;
  /** Runs `work` in another process, as a request to it. Rejects with `ConnectionLost` if that process dies. */
  call<T>(process: Process, work: () => Promise<T>): Promise<T>;
  /** Lets the world go on until the condition holds. Throws `Stuck` if it does not by then. */
  runUntil(isDone: () => boolean, limitMs: number): Promise<void>;
  onWait: (process: Process, label: string) => Fate;
  /** The latest waits, for a report. */
  readonly history: string[];
}

export interface Cancellable {
  cancel(): void;
}

export class ConnectionLost extends Error {}
export class Stuck extends Error {}

const HISTORY_MAX = 400;
/** One operation of thirty takes long. */
const LONG_ONE_IN = 30;
const SHORT_MS = 8;
const LONG_MS = 1_500;

const context = new AsyncLocalStorage<Process>();

export function createScheduler(seed: number, startMs: number): Scheduler {
  const random = createRandom(seed);
  let nowMs = startMs;
  let order = 0;
  let waits: Wait[] = [];
  const history: string[] = [];
  const alive = new Set<Process>();

  function spawn(name: string): Process {
    const process: Process = { name, isAlive: true, frozenUntilMs: 0, callers: new Set(), atDeath: [] };
    alive.add(process);
    return process;
  }

  function here(): Process {
    const process = context.getStore();
    if (!process) throw new Error('code of the simulation runs in no process');
    return process;
  }

  function add(
    process: Process,
    label: string,
    delayMs: number,
    happen: () => unknown,
    fail: (error: Error) => void = () => {},
  ): Wait {
    const wait = { dueMs: nowMs + delayMs, order: order++, process, label, happen, fail, isCancelled: false };
    if (process.isAlive) waits.push(wait);
    return wait;
  }

  function kill(process: Process): void {
    if (!process.isAlive) return;
    process.isAlive = false;
    alive.delete(process);
    waits = waits.filter((wait) => wait.process !== process);
    for (const each of process.atDeath) each();
    for (const lose of process.callers) lose(new ConnectionLost(`${process.name} died`));
  }

  function take(): Wait | null {
    for (;;) {
      let first: Wait | null = null;
      for (const wait of waits) {
        if (!first || wait.dueMs < first.dueMs || (wait.dueMs === first.dueMs && wait.order < first.order))
          first = wait;
      }
      if (!first) return null;
      waits.splice(waits.indexOf(first), 1);
      if (first.isCancelled) continue;
      const { frozenUntilMs } = first.process;
      if (first.dueMs >= frozenUntilMs) return first;
      waits.push({ ...first, dueMs: frozenUntilMs });
    }
  }

  const scheduler: Scheduler = {
    random,
    history,
    onWait: () => 'passes',
    now: () => nowMs,
    here,
    spawn,
    kill,
    end: () => alive.forEach(kill),

    wait(label, delayMs, act) {
      const process = here();
      return new Promise((resolve, reject) => {
        const happen = () => {
          try {
            const result = act();
            if (result instanceof Promise) result.then(resolve, reject);
            else resolve(result);
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        };
        add(process, label, delayMs, happen, reject);
      });
    },

    point(label, act) {
      const isLong = random.integer(LONG_ONE_IN) === 0;
      return scheduler.wait(label, random.next() * (isLong ? LONG_MS : SHORT_MS), act);
    },

    timer(callback, delayMs, everyMs) {
      const process = here();
      let isCancelled = false;
      const set = (ms: number) =>
        add(process, 'timer', ms, () => {
          if (isCancelled) return;
          if (everyMs !== null) current = set(everyMs);
          context.run(process, callback);
        });
      let current = set(delayMs);
      return {
        cancel() {
          isCancelled = current.isCancelled = true;
        },
      };
    },

    call(process, work) {
      return new Promise((resolve, reject) => {
        if (!process.isAlive) return reject(new ConnectionLost(`${process.name} is dead`));
        process.callers.add(reject);
        context
          .run(process, work)
          .then(resolve, reject)
          .finally(() => process.callers.delete(reject));
      });
    },

    async runUntil(isDone, limitMs) {
      const endMs = nowMs + limitMs;
      await turn();
      while (!isDone()) {
        const wait = take();
        if (!wait) throw new Stuck('nobody waits for anything');
        if (wait.dueMs > endMs) throw new Stuck(`not done after ${limitMs} ms`);
        nowMs = Math.max(nowMs, wait.dueMs);
        const { process, label } = wait;
        const fate = scheduler.onWait(process, label);
        if (
          history.push(`${Math.round(nowMs)} ${process.name} ${label}${fate === 'passes' ? '' : ` ${fate}`}`) >
          HISTORY_MAX
        )
          history.splice(0, HISTORY_MAX / 2);
        if (fate === 'fails before' || fate === 'fails after') wait.fail(lostConnection()); // first: what happens afterwards is not reported
        if (fate === 'dies before') kill(process);
        else if (fate !== 'fails before') wait.happen();
        if (fate === 'dies after') kill(process); // what it waited for has happened, and it never learns of it
        await turn();
      }
    },
  };
  return scheduler;
}

const lostConnection = () => Object.assign(new Error('simulated'), { code: 'ECONNRESET' });

/** All that follows at once from the last event has happened: promises and ticks run before the next turn of the loop. */
const turn = () => new Promise<void>((resolve) => realImmediate(resolve));

/** Runs as the code of this process. */
export const inProcess = <T>(process: Process, work: () => T): T => context.run(process, work);
