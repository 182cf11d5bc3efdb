// What jobs and evaluations have in common when somebody takes the right to run them.

/** A lease that ends later than so many of them from now was given before a clock was set back. */
export const LEASES_AHEAD_MAX = 3;
