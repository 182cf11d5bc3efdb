// How much better a rollout did than its siblings, and how much each of its tokens counts. Pure arithmetic on numbers;
// knows no tokens and no text. Follows the reference trainer (ART) step by step; each departure is named.

/** Guards divisions as the reference does; part of the numbers that clients compare. */
const TINY = 1e-6;

/**
 * `rewards` and the result are `[group][rollout]`. Reward minus the group's mean; divided by its population standard
 * deviation when `scale` is set (GRPO, arXiv:2402.03300 §4.1.2). Equal rewards give exact zeros: no signal.
 */
export function groupAdvantages(rewards: readonly (readonly number[])[], scale: boolean): number[][] {
  return rewards.map((group) => {
    if (group.every((reward) => reward === group[0])) return group.map(() => 0);
    const mean = average(group);
    const divisor = scale ? populationDeviation(group) + TINY : 1;
    return group.map((reward) => (reward - mean) / divisor);
  });
}

export const populationDeviation = (xs: readonly number[]): number => {
  const mean = average(xs);
  return Math.sqrt(average(xs.map((x) => (x - mean) ** 2)));
};

export const average = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;

export interface WeighedRollout {
  /** Not zero. */
  readonly advantage: number;
  /** Trained tokens over all its sequences, ≥ 1. */
  readonly trainedTokens: number;
}

export interface TokenSignal {
  readonly advantage: number;
  /** Of each trained token. */
  readonly weight: number;
}

/**
 * A rollout counts once, whatever its length: its tokens share the weight 1. Weights then average 1 over the job's tokens.
 * Advantages are balanced (`balance` > 0 shrinks negative ones, < 0 positive ones) and scaled so that |A| · w averages 1
 * over the tokens. Gives advantages of 0 where balancing left nothing.
 */
export function tokenSignals(rollouts: readonly WeighedRollout[], balance: number): TokenSignal[] {
  const raw = rollouts.map(({ trainedTokens }) => 1 / (trainedTokens + TINY));
  const tokens = rollouts.reduce((sum, { trainedTokens }) => sum + trainedTokens, 0);
  const tokenMean = (values: readonly number[]) =>
    values.reduce((sum, value, i) => sum + value * rollouts[i]!.trainedTokens, 0) / tokens;
  const meanWeight = tokenMean(raw);
  const weights = raw.map((weight) => weight / meanWeight);
  const balanced = rollouts.map(({ advantage }) => {
    if (balance > 0 && advantage <= 0) return advantage * (1 - balance);
    if (balance < 0 && advantage >= 0) return advantage * (1 + balance);
    return advantage;
  });
  const size = tokenMean(balanced.map((advantage, i) => Math.abs(advantage) * weights[i]!));
  return balanced.map((advantage, i) => ({ advantage: size === 0 ? 0 : advantage / size, weight: weights[i]! }));
}
