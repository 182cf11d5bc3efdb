// What jobs and evaluations have in common when a worker claims the right to run them.

/** A lease that ends more than this many lease times from now was granted before the clock was set back. */
export const LEASES_AHEAD_MAX = 3;
