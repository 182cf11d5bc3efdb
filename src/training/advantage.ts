// How much better a rollout did than its siblings, and how much each of its tokens counts. Pure arithmetic on numbers;
// knows no tokens and no text. Follows the reference trainer (ART) step by step; each departure is named.

/** Prevents division by zero, with the reference's value, because clients compare the results. */
const TINY = 1e-6;

/**
 * `rewards` and the result are `[group][rollout]`. Reward minus the group's mean; divided by its population standard
 * deviation when `scale` is set (GRPO, arXiv:2402.03300 §4.1.2). Equal rewards give exact zeros: no signal.
 */
export function groupAdvantages(rewards: readonly (readonly number[])[], scale: boolean): number[][] {
  return rewards.map((group) => {
    if (group.every((reward) => reward === group[0])) return group.map(() => 0);
    const mean = average(group);
    const unit = unitOf(group);
    const divisor = scale ? (populationDeviation(group) + TINY) / unit : 1 / unit;
    return group.map((reward) => finite((reward / unit - mean / unit) / divisor));
  });
}

/**
 * What rewards of single turns add to the advantages of their tokens. Both are `[rollout][turn]` of one group; null: the turn has none. Turns
 * are compared with each other as rollouts are, apart from them (as in arXiv:2505.11821), and a missing reward counts as 0. A turn
 * without one keeps its rollout's advantage as it is.
 */
export function turnAdvantages(rewards: readonly (readonly (number | null)[])[], scale: boolean): number[][] {
  const [advantages] = groupAdvantages([rewards.flat().map((reward) => reward ?? 0)], scale);
  let next = 0;
  return rewards.map((turns) =>
    turns.map((reward) => {
      const advantage = advantages![next++]!;
      return reward === null ? 0 : advantage;
    }),
  );
}

export const populationDeviation = (xs: readonly number[]): number => {
  const unit = unitOf(xs);
  const mean = average(xs) / unit;
  return Math.sqrt(average(xs.map((x) => (x / unit - mean) ** 2))) * unit;
};

export const average = (xs: readonly number[]): number => {
  const unit = unitOf(xs);
  return (xs.reduce((a, b) => a + b / unit, 0) / xs.length) * unit;
};

/** Squares and sums of larger numbers would leave the range of a double. */
const LARGE = 1e100;

/** A divisor that keeps squares and sums of finite numbers in range. It is 1, which changes no bit, except for huge numbers. */
function unitOf(xs: readonly number[]): number {
  const largest = xs.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  return largest > LARGE ? largest : 1;
}

const finite = (x: number): number => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, x));

/** Trained tokens of a rollout that share an advantage. */
export interface RolloutPart {
  readonly advantage: number;
  readonly trainedTokens: number;
}

export interface TokenSignal {
  /** Of each part. */
  readonly advantages: readonly number[];
  /** For each trained token. */
  readonly weight: number;
}

/**
 * `rollouts` is `[rollout][part]`; each has a trained token. A rollout counts once, whatever its length: its tokens share the weight 1.
 * Weights then average 1 over the job's tokens. Advantages are balanced (`balance` > 0 shrinks negative ones, < 0 positive ones) and
 * scaled so that |A| · w averages 1 over the tokens. Returns advantages of 0 if balancing left nothing.
 */
export function tokenSignals(rollouts: readonly (readonly RolloutPart[])[], balance: number): TokenSignal[] {
  const counts = rollouts.map((parts) => parts.reduce((sum, { trainedTokens }) => sum + trainedTokens, 0));
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  const raw = counts.map((count) => 1 / (count + TINY));
  const meanWeight = raw.reduce((sum, weight, i) => sum + weight * counts[i]!, 0) / tokens;
  const weights = raw.map((weight) => weight / meanWeight);
  const balanced = rollouts.map((parts) => parts.map(({ advantage }) => balancedAdvantage(advantage, balance)));
  const unit = unitOf(balanced.flat());
  const size =
    rollouts.reduce(
      (sum, parts, i) =>
        parts.reduce(
          (sum, { trainedTokens }, part) => sum + Math.abs(balanced[i]![part]! / unit) * weights[i]! * trainedTokens,
          sum,
        ),
      0,
    ) / tokens;
  return balanced.map((advantages, i) => ({
    advantages: advantages.map((advantage) => (size === 0 ? 0 : advantage / unit / size)),
    weight: weights[i]!,
  }));
}

function balancedAdvantage(advantage: number, balance: number): number {
  if (balance > 0 && advantage <= 0) return advantage * (1 - balance);
  if (balance < 0 && advantage >= 0) return advantage * (1 + balance);
  return advantage;
}
