// Local copies of a store's directories, for readers that need a path: each is made once, and their total size is
// bounded. Does not know what they contain or how they are fetched.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createId } from '#base/ids';

export interface DirectoryCopies {
  /**
   * A path whose files stay for KEPT_MS; each fetch has a new path. Null: there is nothing under this prefix. The copy at `insteadOf` is
   * dropped first.
   */
  open(prefix: string, insteadOf?: string): Promise<string | null>;
  forget(prefix: string): Promise<void>;
}

export interface DirectoryCopiesOptions {
  /** Emptied first. */
  readonly directory: string;
  /** Above this size, copies not opened for KEPT_MS are removed, the least recently opened first. */
  readonly bytesMax: number;
  /** Writes the files into an empty directory; returns their bytes, or null if there is nothing. */
  readonly fetch: (prefix: string, into: string) => Promise<number | null>;
  readonly now?: () => number;
}

/** Engines read a directory at once after they get its path. */
export const KEPT_MS = 10 * 60 * 1000;

interface Copy {
  readonly path: string;
  readonly sizeBytes: number;
  openedMs: number;
}

export async function prepareDirectoryCopies(options: DirectoryCopiesOptions): Promise<DirectoryCopies> {
  const { directory, bytesMax, fetch, now = Date.now } = options;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  /** Least recently opened first. A Map, because copies opened within KEPT_MS must stay, and files are removed one by one. */
  const copies = new Map<string, Copy>();
  const making = new Map<string, Promise<string | null>>();

  async function make(prefix: string): Promise<string | null> {
    const path = join(directory, createId());
    await mkdir(path);
    let sizeBytes: number | null = null;
    try {
      sizeBytes = await fetch(prefix, path);
    } finally {
      if (sizeBytes === null) await rm(path, { recursive: true });
    }
    if (sizeBytes === null) return null;
    copies.set(prefix, { path, sizeBytes, openedMs: now() });
    await makeRoom();
    return path;
  }

  async function makeRoom(): Promise<void> {
    let total = [...copies.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    for (const [prefix, { sizeBytes, openedMs }] of copies) {
      if (total <= bytesMax || now() - openedMs < KEPT_MS) return;
      total -= sizeBytes;
      await forget(prefix);
    }
  }

  async function forget(prefix: string): Promise<void> {
    const copy = copies.get(prefix);
    copies.delete(prefix);
    if (copy) await rm(copy.path, { recursive: true, force: true });
  }

  return {
    async open(prefix, insteadOf) {
      if (insteadOf !== undefined && copies.get(prefix)?.path === insteadOf) await forget(prefix);
      const copy = copies.get(prefix);
      if (copy) {
        copy.openedMs = now();
        copies.delete(prefix);
        copies.set(prefix, copy);
        return copy.path;
      }
      const made = making.get(prefix) ?? make(prefix).finally(() => making.delete(prefix));
      making.set(prefix, made);
      return made;
    },
    forget,
  };
}
