// How long the answers to creating requests are kept.

export const REMEMBERED_MS = 24 * 60 * 60 * 1000;

/** A request without an answer after this time was lost with its server; it can be repeated. */
export const IN_PROGRESS_MS_MAX = 10 * 60 * 1000;
