// How long answers to creating requests are remembered.

export const REMEMBERED_MS = 24 * 60 * 60 * 1000;

/** A request that has no answer after this long died with its server; it can begin again. */
export const IN_PROGRESS_MS_MAX = 10 * 60 * 1000;
