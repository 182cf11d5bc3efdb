// The order of requests. A request gets its rank when it arrives and keeps it: priority, then start tag, then order of arrival. Start
// tags are those of start-time fair queuing (Goyal, Vin, Cheng, SIGCOMM 1996, eq. 4): each payer has a clock that advances with its
// own sequences, so a payer with one request does not wait for another payer's thousand. Knows payers by name only.

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
  /** Sequences in the request. */
  readonly size: number;
}

export interface FairRanks {
  /** Returns the rank of a request that arrives now. */
  assign(arrival: Arrival): Rank;
  /** A request of this rank starts, so the virtual time advances to its start tag. */
  begin(rank: Rank): void;
  /** A request of this rank never starts: it was refused, or its client left. Its payer's next requests do not pay for it. */
  withdraw(rank: Rank, size: number): void;
}

/** Payers that are remembered. Those whose clock is in the past are dropped first, without effect on their rank. */
const PAYERS_MAX = 1024;

export function createFairRanks(): FairRanks {
  let now = 0;
  let arrivals = 0;
  /** The start tag of each payer's next request. A Map and not an LRU: a payer whose clock is ahead must stay, however old. */
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
    withdraw({ payer, startTag }, size) {
      const at = next.get(payer);
      if (at !== undefined) next.set(payer, Math.max(startTag, at - size));
    },
  };
}
