// Means and their standard errors.

export const mean = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;

export interface Rise {
  readonly by: number;
  /** Standard error of `by`: how far it would scatter over other prompts of this kind. */
  readonly standardError: number;
}

/** For the same prompts before and after, `[prompt]`: what both share, such as hard prompts, does not count as scatter. */
export function riseOf(before: readonly number[], after: readonly number[]): Rise {
  const rises = after.map((x, i) => x - before[i]!);
  const by = mean(rises);
  const variance = rises.reduce((sum, rise) => sum + (rise - by) ** 2, 0) / (rises.length - 1);
  return { by, standardError: Math.sqrt(variance / rises.length) };
}
