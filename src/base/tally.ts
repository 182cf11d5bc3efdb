// Counts what payers hold of something bounded, and how much of it one may hold: three quarters of what the others leave, so that the next
// payer finds room.

export interface Counted {
  readonly all: number;
  readonly ofPayer: number;
}

/** Of `max`, for one payer. */
export const shareOf = ({ all, ofPayer }: Counted, max: number): number => Math.ceil(0.75 * (max - (all - ofPayer)));

/** Whether the payer may have `size` more. */
export const hasRoom = (size: number, counted: Counted, max: number): boolean =>
  counted.all + size <= max && counted.ofPayer + size <= shareOf(counted, max);

export interface Tally {
  readonly all: number;
  of(payer: string): Counted;
  /** Negative: they have ended. */
  add(payer: string, count: number): void;
}

export function createTally(): Tally {
  const each = new Map<string, number>();
  let all = 0;
  return {
    get all() {
      return all;
    },
    of: (payer) => ({ all, ofPayer: each.get(payer) ?? 0 }),
    add(payer, count) {
      all += count;
      const left = (each.get(payer) ?? 0) + count;
      if (left > 0) each.set(payer, left);
      else each.delete(payer);
    },
  };
}
