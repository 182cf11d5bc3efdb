// Means, and how far off they may be.

export const mean = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;

export interface Rise {
  readonly by: number;
  /** Of `by`: how far it would scatter with other prompts of the kind. */
  readonly standardError: number;
}

/** Of the same prompts before and after, `[prompt]`: what they have in common, such as hard ones, is no scatter. */
export function riseOf(before: readonly number[], after: readonly number[]): Rise {
  const rises = after.map((x, i) => x - before[i]!);
  const by = mean(rises);
  const variance = rises.reduce((sum, rise) => sum + (rise - by) ** 2, 0) / (rises.length - 1);
  return { by, standardError: Math.sqrt(variance / rises.length) };
}
