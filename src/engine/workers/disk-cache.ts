// Files and directories on disk by their keys, up to so many bytes together: those used least recently are removed first, and never
// one that somebody uses. Knows no server, and nothing of what they hold.
import { rm } from 'node:fs/promises';

export interface DiskCache {
  /** `make` puts it at a path of its own, unless it is there already. It stays there at least until `use` has ended. */
  using<T>(key: string, bytes: number, make: () => Promise<string>, use: (path: string) => Promise<T>): Promise<T>;
}

interface Entry {
  readonly made: Promise<string>;
  readonly bytes: number;
  users: number;
}

/** What is larger than `bytesMax` is kept alone. */
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
          if (entries.get(key) === entry) entries.delete(key); // the next one tries again
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
