// What the latest steps of a model show together: rewards that fall or stay where they are, groups without a difference, answers that
// become alike. Said while a loop can still be changed. Advice, never a refusal. Knows nothing of a single job's data.
import { counted } from '#base/counted';
import { fittedLearningRates, shortRate } from '#training/fitted-learning-rate';
import type { RlPlan } from '#training/rl-plan';

/** A step that an RL job made. Null: unknown. */
export interface LoopStep {
  readonly reward: number;
  /** Of the mean reward. */
  readonly standardError: number | null;
  /** The part of its groups in which all rewards are equal. */
  readonly equalGroups: number | null;
  /** Of the policy over the trained tokens, nats. */
  readonly entropy: number | null;
}

/** What is measured of a job before it trains. */
export type PlannedStep = Pick<RlPlan, 'rewards' | 'rewardStandardError' | 'comparedGroups' | 'equalGroups' | 'rows'>;

interface Rate {
  readonly rate: number;
  readonly hiddenSize: number | null;
}

/** A fall needs this many consecutive steps, */
const FALLS = 3;
/** and in total more than this many standard errors: on fresh prompts, one job in 24 ends three falls by luck. */
const STANDARD_ERRORS = 3;
/** So many steps with one rate show whether it moves anything. */
const STEPS_FLAT = 8;
/** A rise of more standard errors is no luck. */
const STANDARD_ERRORS_OF_RISE = 2;
/** Of the groups, for two steps. */
const MOST_EQUAL = 0.5;
const ENTROPY_FALL = 3;
/** Within so many steps. */
const STEPS_OF_ENTROPY = 5;

/** How many steps before the job matter. */
export const STEPS_COMPARED = STEPS_FLAT - 1;

/** Before the job trains. `before`: the model's latest steps, oldest first. `rate`: null if the job's own is already warned about. */
export function loopWarnings(before: readonly LoopStep[], plan: PlannedStep, rate: Rate | null): string[] {
  if (plan.rewards.reward === undefined) return [];
  const now = measuredStep(plan);
  const steps = [...before, now];
  const equal = plan.rows.length === 0 ? [] : mostlyEqual(steps, plan);
  const isStuck = equal.length > 0 || plan.rows.length === 0; // no rate moves what has no signal
  return [...fallingRewards(steps), ...equal, ...(isStuck || rate === null ? [] : flatRewards(steps, rate))];
}

/** Of the job itself, before it trains. */
export const measuredStep = (plan: Omit<PlannedStep, 'rows'>): LoopStep => ({
  reward: plan.rewards['reward'] ?? NaN,
  standardError: plan.rewardStandardError,
  equalGroups: plan.comparedGroups > 0 ? plan.equalGroups / plan.comparedGroups : null,
  entropy: null,
});

/**
 * After the job has trained. Said once, in the step in which the threshold is passed. A policy that learns becomes surer of its answers:
 * while the reward rises with that, it is no fault.
 */
export function entropyWarnings(before: readonly LoopStep[], now: LoopStep): string[] {
  const steps = [...before, now];
  const from = fallenFrom(steps);
  if (from === null || fallenFrom(before) !== null) return [];
  return [
    `The entropy of the answers fell from ${short(from.entropy!)} to ${short(now.entropy!)} nats within ${STEPS_OF_ENTROPY} steps, and the reward did not rise ` +
      `(${rewardsIn([from, now])}): they become alike, and groups of equal answers teach nothing. Go back to an earlier step and lower the learning rate, or set kl_penalty_coef.`,
  ];
}

/** The step from which the entropy fell to that of the last one, without a rise of the reward. Null: it did not. */
function fallenFrom(steps: readonly LoopStep[]): LoopStep | null {
  const last = steps.at(-1);
  const earlier = steps.slice(0, -1).filter(({ entropy }) => entropy !== null);
  const [first, ...others] = earlier.slice(-STEPS_OF_ENTROPY);
  if (!first || last?.entropy == null) return null;
  const highest = others.reduce((most, step) => (step.entropy! > most.entropy! ? step : most), first);
  if (last.entropy * ENTROPY_FALL > highest.entropy! || isRise(highest, last)) return null;
  return highest;
}

/** Where the standard errors are unknown, any rise is one. */
const isRise = (from: LoopStep, to: LoopStep): boolean =>
  to.reward - from.reward > STANDARD_ERRORS_OF_RISE * Math.hypot(from.standardError ?? 0, to.standardError ?? 0);

/** The fall is the difference of two means, so its standard error combines those of both. */
function fallingRewards(steps: readonly LoopStep[]): string[] {
  const last = steps.slice(-FALLS - 1);
  const falls = last.length === FALLS + 1 && last.every(({ reward }, i) => i === 0 || reward < last[i - 1]!.reward);
  if (!falls) return [];
  const [first, newest] = [last[0]!, last.at(-1)!];
  if (first.standardError === null || newest.standardError === null) return [];
  const standardError = Math.hypot(first.standardError, newest.standardError);
  if (first.reward - newest.reward <= STANDARD_ERRORS * standardError) return [];
  return [
    `The mean reward fell over the last ${FALLS} steps (${rewardsIn(last)}). Look at the groups, lower the learning rate, or go back to an earlier step.`,
  ];
}

function mostlyEqual(steps: readonly LoopStep[], { equalGroups, comparedGroups }: PlannedStep): string[] {
  const last = steps.slice(-2);
  if (last.length < 2 || last.some((step) => step.equalGroups === null || step.equalGroups <= MOST_EQUAL)) return [];
  return [
    `In ${equalGroups} of ${counted(comparedGroups, 'group')} all rewards are equal, and it was so in most groups of the step before: they teach nothing. ` +
      'Choose prompts that the model solves sometimes (`whetstone probe` finds them), sample more answers per prompt, or reward a part of the way.',
  ];
}

/** Compares the second half of the steps with the first. */
function flatRewards(steps: readonly LoopStep[], { rate, hiddenSize }: Rate): string[] {
  const last = steps.slice(-STEPS_FLAT);
  if (hiddenSize === null || last.length < STEPS_FLAT) return [];
  const usual = fittedLearningRates(hiddenSize);
  if (rate >= usual.low) return [];
  const errors = last.map(({ standardError }) => standardError);
  if (errors.includes(null)) return [];
  const half = STEPS_FLAT / 2;
  const rise = meanReward(last.slice(half)) - meanReward(last.slice(0, half));
  const standardError = Math.hypot(...(errors as number[])) / half;
  if (rise > STANDARD_ERRORS_OF_RISE * standardError) return [];
  return [
    `The mean reward did not rise over the last ${STEPS_FLAT} steps (${rewardsIn(last)}) at the learning rate ${shortRate(rate)}, which is below ` +
      `what LoRA usually takes at this size of model (${shortRate(usual.low)} to ${shortRate(usual.high)} for examples). Try three times the rate, on a fork of the model.`,
  ];
}

const meanReward = (steps: readonly LoopStep[]): number =>
  steps.reduce((sum, { reward }) => sum + reward, 0) / steps.length;
const rewardsIn = (steps: readonly LoopStep[]): string => steps.map(({ reward }) => short(reward)).join(', ');
const short = (value: number): number => Number(value.toPrecision(3));
