// Joins the symbols of one word by the merges of a BPE model: always the pair with the lowest rank, the leftmost of several. A heap holds
// the pairs, so that a word of any length takes little more than linear time.
import type { PairTable } from './pair-table.ts';

export interface Merges {
  /** Ids of a pair → its rank. */
  readonly ranks: PairTable;
  /** Rank → the id that its pair makes. */
  readonly made: Int32Array;
}

interface Word {
  readonly ids: number[];
  readonly lengths: number[];
}

/** A place in a word is below this; rank and place together are one number. */
const PLACES = 2 ** 26;
const NONE = -1;

export function mergeSymbols(word: Word, { ranks, made }: Merges): Word {
  const ids = Int32Array.from(word.ids);
  const lengths = Int32Array.from(word.lengths);
  const count = ids.length;
  if (count < 2) return word;
  const before = Int32Array.from(ids, (_, i) => i - 1);
  const after = Int32Array.from(ids, (_, i) => (i + 1 < count ? i + 1 : NONE));
  const heap = createHeap();
  const offer = (place: number, next: number) => {
    const rank = ranks.get(ids[place]!, ids[next]!);
    if (rank >= 0) heap.push(rank * PLACES + place);
  };
  for (let place = 0; place + 1 < count; place++) offer(place, place + 1);

  for (let lowest = heap.pop(); lowest >= 0; lowest = heap.pop()) {
    const rank = Math.floor(lowest / PLACES);
    const place = lowest - rank * PLACES;
    const next = after[place]!;
    if (lengths[place] === 0 || next === NONE) continue;
    const current = ranks.get(ids[place]!, ids[next]!);
    if (current < 0 || made[current] !== made[rank]) continue; // the pair has changed since
    ids[place] = made[rank]!;
    lengths[place]! += lengths[next]!;
    lengths[next] = 0;
    const following = (after[place] = after[next]!);
    if (following !== NONE) before[following] = place;
    if (before[place]! >= 0) offer(before[place]!, place);
    if (following !== NONE) offer(place, following);
  }

  const merged: Word = { ids: [], lengths: [] };
  for (let place = 0; place < count; place++) {
    if (lengths[place] === 0) continue;
    merged.ids.push(ids[place]!);
    merged.lengths.push(lengths[place]!);
  }
  return merged;
}

/** Of numbers that are not negative; `pop` returns the lowest, and -1 when it is empty. */
function createHeap() {
  const items: number[] = [];

  function sink(item: number): void {
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && items[child + 1]! < items[child]!) child++;
      if (items[child]! >= item) break;
      items[hole] = items[child]!;
      hole = child;
    }
    items[hole] = item;
  }

  return {
    push(item: number): void {
      let hole = items.push(item) - 1;
      while (hole > 0) {
        const parent = (hole - 1) >> 1;
        if (items[parent]! <= item) break;
        items[hole] = items[parent]!;
        hole = parent;
      }
      items[hole] = item;
    },
    pop(): number {
      const [lowest, last] = [items[0], items.pop()];
      if (lowest === undefined || last === undefined) return NONE;
      if (items.length > 0) sink(last);
      return lowest;
    },
  };
}
