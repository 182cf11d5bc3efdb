// A cache of files and directories on disk by key, limited in total bytes: the least recently used are removed first, never one
// that is in use. Knows no server, and not what the files contain.
import { rm } from 'node:fs/promises';

export interface DiskCache {
  /** `make` creates the entry unless it is cached, and returns its path. The entry stays at least until `use` has ended. */
  using<T>(key: string, bytes: number, make: () => Promise<string>, use: (path: string) => Promise<T>): Promise<T>;
}

interface Entry {
  readonly made: Promise<string>;
  readonly bytes: number;
  users: number;
}

/** An entry larger than `bytesMax` is kept alone. */
export function createDiskCache(bytesMax: number): DiskCache {
  /** Least recently used first. */
  const entries = new Map<string, Entry>();

  function makeRoom(): void {
    let sum = [...entries.values()].reduce((total, { bytes }) => total + bytes, 0);
    for (const [key, { made, bytes, users }] of entries) {
      if (sum <= bytesMax) return;
      if (users > 0) continue;
      entries.delete(key);
      sum -= bytes;
      void made.then((path) => rm(path, { recursive: true, force: true })).catch(() => {});
    }
  }

  return {
    async using(key, bytes, make, use) {
      const entry = entries.get(key) ?? { made: make(), bytes: Math.min(bytes, bytesMax), users: 0 };
      entries.delete(key);
      entries.set(key, entry);
      entry.users++;
      try {
        const path = await entry.made.catch((fault: unknown) => {
          if (entries.get(key) === entry) entries.delete(key); // the next caller tries again
          throw fault;
        });
        return await use(path);
      } finally {
        entry.users--;
        makeRoom();
      }
    },
  };
}
