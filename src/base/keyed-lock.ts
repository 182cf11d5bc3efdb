// A lock per key: work under the same key runs in sequence, under different keys concurrently. Within this process only.

export type KeyedLock = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Returns a function that runs the work once all earlier work under its key has settled. */
export function createKeyedLock(): KeyedLock {
  /** The last work under each key. */
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const ended = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, ended);
    const leave = () => void (last.get(key) === ended && last.delete(key));
    ended.then(leave, leave);
    return ended;
  };
}
