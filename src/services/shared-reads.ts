// Large values that are read again and again, for pages and followers: whoever asks for one at the same time, or soon after, shares one
// reading, because megabytes take a tenth of a second to parse. Only for what never changes under its key: whether it still exists, and
// whose it is, the caller has looked up. Nobody may change a value.
import { LRUCache } from 'lru-cache';

export interface Read<T> {
  readonly value: T;
  /** More than zero; of the stored form. */
  readonly sizeBytes: number;
}

interface SharedReads<T extends object> {
  /** Null and errors are not remembered. */
  find(key: string, read: () => Promise<Read<T> | null>): Promise<T | null>;
}

/** Pages and followers come within seconds; memory that nobody asks for is free again. */
const REMEMBERED_MS = 30_000;

export function createSharedReads<T extends object>(bytesMax: number): SharedReads<T> {
  const reading = new Map<string, Promise<T | null>>();
  const known = new LRUCache<string, T>({ maxSize: bytesMax, ttl: REMEMBERED_MS, ttlAutopurge: true });

  async function begin(key: string, read: () => Promise<Read<T> | null>): Promise<T | null> {
    try {
      const found = await read();
      if (found) known.set(key, found.value, { size: found.sizeBytes });
      return found && found.value;
    } finally {
      reading.delete(key);
    }
  }

  return {
    async find(key, read) {
      const remembered = known.get(key);
      if (remembered) return remembered;
      const begun = reading.get(key) ?? begin(key, read);
      reading.set(key, begun);
      return begun;
    },
  };
}
