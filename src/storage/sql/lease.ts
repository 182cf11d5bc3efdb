// A lease: the right of one worker to run what a row stands for, for a time. What a claim writes, and when another worker may claim.
import { sql } from 'kysely';

/** A lease that ends more than this many lease times from now was granted before the clock was set back. */
const LEASES_AHEAD_MAX = 3;

/** Times in milliseconds. `column`: the row's `lease_until_ms`. */
export const hasLapsed = (column: string, nowMs: number, leaseMs: number) =>
  sql<boolean>`(${sql.ref(column)} <= ${nowMs} or ${sql.ref(column)} > ${nowMs + LEASES_AHEAD_MAX * leaseMs})`;

export const leasedTo = (worker: string, nowMs: number, leaseMs: number) => ({
  worker,
  lease_until_ms: nowMs + leaseMs,
  attempt: sql<number>`attempt + 1`,
});
