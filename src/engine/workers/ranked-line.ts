// Those that wait, in the order of their ranks, which never change: tens of thousands may, so that nobody is looked at who is not
// concerned. Knows no samplers.
import { compareRanks, type Rank } from '../rank.ts';

export interface Ranked {
  readonly rank: Rank;
  /** Choices. */
  readonly size: number;
}

export interface RankedLine<T extends Ranked> {
  add(entry: T): void;
  /** Idempotent. */
  remove(entry: T): void;
  readonly first: T | undefined;
  /** Of all entries together. */
  readonly choices: number;
  /** As they are now. */
  list(): readonly T[];
}

export function createRankedLine<T extends Ranked>(): RankedLine<T> {
  const line: T[] = [];
  let choices = 0;

  /** Where the rank is, or would be. */
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
      choices += entry.size;
    },
    remove(entry) {
      const at = placeOf(entry);
      if (line[at] !== entry) return;
      line.splice(at, 1);
      choices -= entry.size;
    },
    get first() {
      return line[0];
    },
    get choices() {
      return choices;
    },
    list: () => [...line],
  };
}
