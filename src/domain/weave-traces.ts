// What becomes of traces that clients of the weave library send: taken and dropped, or refused before they are read. None are kept.

export const WEAVE_TRACES = ['drop', 'refuse'] as const;
export type WeaveTraces = (typeof WEAVE_TRACES)[number];
