// Default limits of a sampler. The server's settings show one of them; a worker reports them to its server.

export const SAMPLER_LIMITS = {
  /** Sequences computed at once: beyond this a decode step takes longer than it gains. */
  sequencesMax: 128,
  /** Adapters in memory: rank 8 on a 0.6B model is 33 MB each. */
  adaptersMax: 64,
  /** Default for a stream that is not read: a slow terminal reads within tenths of a second. */
  unreadMs: 5_000,
} as const;
