// Ends synchronous work that takes too long, such as a regular expression that backtracks without end or a template that loops. The work
// runs on the caller's thread, so the limit is also the longest time that everything else waits. What it had half written stays half
// written, and its `finally` blocks do not run: only for work that builds a value.
import { createContext, Script } from 'node:vm';
import { isObject } from './is-object.ts';

export class TimeLimitError extends Error {
  constructor(ms: number) {
    super(`The work took longer than ${ms} ms.`);
    this.name = 'TimeLimitError';
  }
}

/** V8 ends what a script of `node:vm` does, in whatever function and regular expression that is. */
const caller: { work: () => void } = { work: () => {} };
const context = createContext(caller);
const script = new Script('work()');

/** Returns what the work returns and throws what it throws; throws TimeLimitError after `ms`. Costs a tenth of a millisecond. */
export function withinMs<T>(ms: number, work: () => T): T {
  let made: { readonly value: T } | null = null;
  const outer = caller.work;
  caller.work = () => {
    made = { value: work() };
  };
  try {
    script.runInContext(context, { timeout: ms });
  } catch (error) {
    // Of the other context's class Error.
    if (isObject(error) && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new TimeLimitError(ms);
    throw error;
  } finally {
    caller.work = outer;
  }
  return made!.value;
}
