// Who goes first. A request gets its rank when it arrives and keeps it: priority, then start tag, then order of arrival. Start
// tags are those of start-time fair queuing (Goyal, Vin, Cheng, SIGCOMM 1996, eq. 4): each payer has a clock that its own
// sequences push on, so that a payer with one request is not behind another's thousand. Knows payers as names only.

export interface Rank {
  /** Smaller goes first. */
  readonly priority: number;
  readonly startTag: number;
  /** In order of arrival; unique. */
  readonly number: number;
  readonly payer: string;
}

export const compareRanks = (a: Rank, b: Rank): number =>
  a.priority - b.priority || a.startTag - b.startTag || a.number - b.number;

export interface Arrival {
  readonly priority: number;
  readonly payer: string;
  /** Sequences it brings. */
  readonly size: number;
}

export interface FairRanks {
  /** Rank of a request that arrives now. */
  assign(arrival: Arrival): Rank;
  /** A request of this rank begins: time has come so far. */
  begin(rank: Rank): void;
}

/** Payers that are remembered; those whose time has passed are forgotten first and lose nothing. */
const PAYERS_MAX = 1024;

export function createFairRanks(): FairRanks {
  let now = 0;
  let arrivals = 0;
  /** Where each payer's next request begins. A Map, because a payer whose clock is ahead stays, however long ago that was. */
  const next = new Map<string, number>();
  return {
    assign({ priority, payer, size }) {
      const startTag = Math.max(now, next.get(payer) ?? 0);
      next.set(payer, startTag + size);
      if (next.size > PAYERS_MAX) for (const [name, at] of next) if (at <= now) next.delete(name);
      return { priority, startTag, number: arrivals++, payer };
    },
    begin({ startTag }) {
      now = Math.max(now, startTag);
    },
  };
}
