// Joins short pieces of work that arrive at about the same time for one owner in one transaction: they wait for the disk once, not one after
// another. If a piece fails, nothing of its group is kept, and each is tried again on its own. Knows nothing of the work, which must
// bear repetition.
import { setImmediate } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import type { Tables } from './rows.ts';

/** Null: it has done nothing, and must be repeated in a transaction that may do more. */
type Work<T> = (tx: Transaction<Tables>, mayDoMore: boolean) => Promise<T | null>;

/** Runs a transaction of the owner's. */
type Begin = <T>(owner: string, mayDoMore: boolean, work: (tx: Transaction<Tables>) => Promise<T>) => Promise<T>;

interface Piece {
  readonly work: Work<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** More would keep other writers waiting for longer than one slow disk access. */
const GROUP_MAX = 64;

/** Throws what the work throws. */
export type GroupedTransactions = <T>(owner: string, work: Work<T>) => Promise<T>;

export function createGroupedTransactions(begin: Begin): GroupedTransactions {
  /** Of owners whose pieces are being run. */
  const waiting = new Map<string, Piece[]>();

  async function runAll(owner: string, pieces: Piece[]): Promise<void> {
    while (pieces.length > 0) {
      await setImmediate(); // SQLite's calls never yield: others would arrive only after the disk has answered
      await runGroup(owner, pieces.splice(0, GROUP_MAX));
    }
    waiting.delete(owner);
  }

  async function runGroup(owner: string, group: readonly Piece[]): Promise<void> {
    try {
      const results = await together(owner, group);
      for (const [i, { resolve }] of group.entries()) resolve(results[i]);
    } catch (error) {
      if (group.length === 1) group[0]!.reject(error);
      else for (const piece of group) await runGroup(owner, [piece]);
    }
  }

  async function together(owner: string, group: readonly Piece[]): Promise<unknown[]> {
    const results = await begin(owner, false, (tx) => inOrder(group, (piece) => piece.work(tx, false)));
    if (!results.includes(null)) return results;
    return begin(owner, true, (tx) => inOrder(group, ({ work }, i) => results[i] ?? work(tx, true)));
  }

  return <T>(owner: string, work: Work<T>) =>
    new Promise<T>((resolve, reject) => {
      const piece: Piece = { work, resolve: resolve as Piece['resolve'], reject };
      const pieces = waiting.get(owner);
      if (pieces) return void pieces.push(piece);
      const own = [piece];
      waiting.set(owner, own);
      void runAll(owner, own);
    });
}

async function inOrder(pieces: readonly Piece[], run: (piece: Piece, i: number) => unknown): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const [i, piece] of pieces.entries()) results.push(await run(piece, i));
  return results;
}
