// How a process dies in tests: after a number of calls, at one verb, or whenever it computes a certain row.
import { AppError } from '#domain/errors';
import { EngineLost } from '#engine/engine-lost';
import type { LossProgram } from '#engine/loss-program';
import type { TrainingRow, TrainingSession } from '#engine/training-engine';

export interface FatalRow {
  /** The letters of the row's text. */
  readonly letters: string;
  /** The process is killed there so many times, and then no more. Undefined: the row itself kills it, always. */
  readonly killsByOthers?: number;
  /** On another machine: the server cannot see how it ends. */
  readonly isUnseen?: true;
}

/** Counts every call to the wrapped objects; from the `lastCall`-th on, calls have no effect. */
export function createKillSwitch(lastCall: number) {
  let die: () => void = () => {};
  const died = new Promise<void>((resolve) => (die = resolve));
  let calls = 0;
  function wrap<T extends object>(target: T): T {
    return new Proxy(target, {
      get(object, key) {
        const value = Reflect.get(object, key) as unknown;
        if (typeof value === 'object' && value !== null) return wrap(value);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          if (++calls > lastCall) {
            die();
            throw new Error('killed');
          }
          const result = (await Reflect.apply(value, object, args)) as unknown;
          // Sessions of the engine are wrapped too; rows and blobs are plain data.
          return typeof result === 'object' && result !== null && 'optimStep' in result ? wrap(result) : result;
        };
      },
    });
  }
  return { wrap, died, calls: () => calls };
}

/** The engine's process ends whenever it computes the row with these letters. */
export function dyingAt(
  session: TrainingSession,
  { letters, killsByOthers, isUnseen }: FatalRow,
  countDeath: () => number,
) {
  const survive = (row: TrainingRow): void => {
    if (!String.fromCharCode(...row.tokens).includes(letters)) return;
    if (killsByOthers === undefined) {
      countDeath();
      if (isUnseen) throw new EngineLost('worker far', { how: 'lost its connection', byOthers: 'unknown' });
      throw new EngineLost('training', { how: 'exited with code 134', byOthers: false });
    }
    if (countDeath() > killsByOthers) return;
    throw new EngineLost('training', { how: 'was killed by SIGKILL', byOthers: true });
  };
  return {
    ...session,
    logprobs: async (rows: readonly TrainingRow[]) => (rows.forEach(survive), session.logprobs(rows)),
    forwardBackward: async (rows: readonly TrainingRow[], loss: LossProgram) => (
      rows.forEach(survive),
      session.forwardBackward(rows, loss)
    ),
  };
}

/** The engine's process dies at one verb, once. */
export function failingOnce<T extends object>(session: T, failures: { verbsLeft: number }): T {
  return new Proxy(session, {
    get(object, key) {
      const value = Reflect.get(object, key) as unknown;
      if (typeof value !== 'function' || key === 'close') return value;
      return (...args: unknown[]) => {
        if (failures.verbsLeft-- === 0)
          return Promise.reject(new AppError('engine_unavailable', 'The training process died.'));
        return Reflect.apply(value, object, args) as unknown;
      };
    },
  });
}
