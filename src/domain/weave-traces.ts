// What happens to traces that clients of the weave library send: accepted and dropped, or refused before they are read. None are stored.

export const WEAVE_TRACES = ['drop', 'refuse'] as const;
export type WeaveTraces = (typeof WEAVE_TRACES)[number];
