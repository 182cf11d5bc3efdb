// Time is passed in, so that tests decide what time it is.

export interface Clock {
  /** Unix time, ms. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
