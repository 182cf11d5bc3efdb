// Bounds of a sampler that others count on: the settings of a server show one, a worker tells them to its server.

export const SAMPLER_LIMITS = {
  /** That it computes at once: beyond this a decode step takes longer than it gains. */
  sequencesMax: 128,
  /** In memory: rank 8 on a 0.6B model is 33 MB each. */
  adaptersMax: 64,
  /** Default of what nobody reads: a slow terminal reads within tenths of a second. */
  unreadMs: 5_000,
} as const;
