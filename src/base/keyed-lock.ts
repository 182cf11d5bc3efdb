// Work on the same thing, one after another; on different things, side by side. In this process only.

export type KeyedLock = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Gives a function that runs the work when what was asked for before under its key has ended, well or not. */
export function createKeyedLock(): KeyedLock {
  /** The end of the last work under each key. */
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const ended = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, ended);
    const leave = () => void (last.get(key) === ended && last.delete(key));
    ended.then(leave, leave);
    return ended;
  };
}
