// Waiting requests in the order of their ranks, which never change. There may be tens of thousands, so operations visit only the
// entries concerned. Knows no samplers.
import { createTally, type Tally } from '#base/tally';
import { compareRanks, type Rank } from '../rank.ts';

export interface Ranked {
  readonly rank: Rank;
  /** Number of choices. */
  readonly size: number;
}

export interface RankedLine<T extends Ranked> {
  add(entry: T): void;
  /** Idempotent. */
  remove(entry: T): void;
  at(index: number): T | undefined;
  /** Of all entries. */
  readonly choices: Pick<Tally, 'all' | 'of'>;
  /** A snapshot in order. */
  list(): readonly T[];
}

export function createRankedLine<T extends Ranked>(): RankedLine<T> {
  const line: T[] = [];
  const choices = createTally();

  /** The index of this rank, or where it would be inserted. */
  function placeOf({ rank }: Ranked): number {
    let [low, high] = [0, line.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareRanks(line[middle]!.rank, rank) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    add(entry) {
      line.splice(placeOf(entry), 0, entry);
      choices.add(entry.rank.payer, entry.size);
    },
    remove(entry) {
      const at = placeOf(entry);
      if (line[at] !== entry) return;
      line.splice(at, 1);
      choices.add(entry.rank.payer, -entry.size);
    },
    at: (index) => line[index],
    choices,
    list: () => [...line],
  };
}
