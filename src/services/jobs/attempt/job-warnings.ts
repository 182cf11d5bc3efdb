// Warnings about an RL job before it trains, as an experienced person would give them: nothing to learn from, falling rewards, a
// learning rate far from what usually works. Advice, never a refusal. Warnings about unused parts of a request are elsewhere.
import { fittedLearningRates, shortRate } from '#training/fitted-learning-rate';
import type { RlPlan } from '#training/rl-plan';

export interface JudgedJob {
  readonly plan: Pick<RlPlan, 'config' | 'skipped' | 'counts' | 'rewards' | 'rewardStandardError' | 'rows'>;
  /** The model's latest steps, oldest first. */
  readonly rewardsBefore: readonly MeanReward[];
  /** Hidden size of the model; null: unknown. */
  readonly hiddenSize: number | null;
}

export interface MeanReward {
  readonly mean: number;
  /** Of the mean; null: unknown. */
  readonly standardError: number | null;
}

/** A warning needs this many consecutive falls, */
export const STEPS_COMPARED = 3;
/** and a fall in total of more than this many standard errors: on fresh prompts, one job in 24 ends three falls by luck. */
const STANDARD_ERRORS = 3;

export function jobWarnings({ plan, rewardsBefore, hiddenSize }: JudgedJob): string[] {
  return [
    ...nothingToLearn(plan),
    ...(plan.rewards['reward'] === undefined
      ? []
      : fallingRewards([...rewardsBefore, { mean: plan.rewards['reward'], standardError: plan.rewardStandardError }])),
    ...(plan.rows.length > 0 ? unusualLearningRate(plan.config.optimizer.learningRate, hiddenSize) : []),
  ];
}

function nothingToLearn({ rows, skipped, counts: { num_trajectories: all } }: JudgedJob['plan']): string[] {
  const { no_logprobs: unknown = 0 } = skipped;
  return [
    ...(rows.length === 0 ? [nothingTrained(skipped, all)] : []),
    ...(unknown > 0
      ? [
          `${unknown} of ${all} trajectories have answers without tokens or log-probabilities and were not trained. ` +
            'Send choices as they came from the chat endpoint, with logprobs or return_token_ids.',
        ]
      : []),
  ];
}

/** The checkpoint equals the previous one: a training loop must not mistake it for progress. */
function nothingTrained(skipped: JudgedJob['plan']['skipped'], all: number): string {
  if (all > 0 && skipped['equal_rewards'] === all)
    return 'All rewards are equal within their groups: nothing was trained. Reward what is better, or sample more per prompt.';
  const reasons = Object.entries(skipped).filter(([, count]) => count > 0);
  const counted = reasons.map(([reason, count]) => `${count} ${reason}`).join(', ');
  const remedies = reasons.flatMap(([reason]) => REMEDIES[reason] ?? []);
  return [
    `Nothing was trained: no trajectory has a token to learn from${counted === '' ? '' : ` (${counted})`}.`,
    ...(remedies.length > 0 ? remedies : ['Send groups of trajectories with choices and rewards that differ.']),
  ].join(' ');
}

const REMEDIES: Readonly<Record<string, string>> = {
  equal_rewards: 'Let rewards differ within a group.',
  zero_advantage: 'Let rewards differ within a group, and check advantage_balance.',
  no_trainable_tokens: 'Send choices of the chat endpoint in messages_and_choices: plain messages are context.',
  unknown_tokens: 'Send choices as this base model sampled them.',
  refused_by_template:
    'The prompts of their choices had to be rendered, and the chat template refuses those conversations, or the model has none (--chat-template FILE): send prompt_token_ids with choices.',
  logprob_count_mismatch: 'Send choices as they came, without changing their log-probabilities.',
  stale: 'Train sooner after sampling, or raise max_staleness.',
  too_long: 'Send shorter conversations: their answers are beyond the context.',
  exceptions: 'Find out why the rollouts failed.',
};

/** The fall is the difference of two means, so its standard error combines those of both. */
function fallingRewards(rewards: readonly MeanReward[]): string[] {
  const last = rewards.slice(-STEPS_COMPARED - 1);
  const falls = last.length === STEPS_COMPARED + 1 && last.every(({ mean }, i) => i === 0 || mean < last[i - 1]!.mean);
  if (!falls) return [];
  const [first, newest] = [last[0]!, last.at(-1)!];
  if (first.standardError === null || newest.standardError === null) return [];
  const standardError = Math.hypot(first.standardError, newest.standardError);
  if (first.mean - newest.mean <= STANDARD_ERRORS * standardError) return [];
  const shown = last.map(({ mean }) => Number(mean.toPrecision(3))).join(', ');
  return [
    `The mean reward fell over the last ${STEPS_COMPARED} steps (${shown}). Look at the groups, lower the learning rate, or go back to an earlier step.`,
  ];
}

/** The default of the reference trainer (ART), whose users train models of some billions of parameters. */
const CAUTIOUS_RATE = 5e-6;
/** A rate that is further from the range than this factor is probably a mistake. */
const FAR = 10;

function unusualLearningRate(rate: number, hiddenSize: number | null): string[] {
  if (hiddenSize === null) return [];
  const best = fittedLearningRates(hiddenSize).high;
  const [low, high] = [CAUTIOUS_RATE / FAR, best * FAR];
  if (rate >= low && rate <= high) return [];
  return [
    `The learning rate ${rate} is far from what LoRA usually takes at this size of model: ${shortRate(CAUTIOUS_RATE)} (the reference trainer's default) ` +
      `to ${shortRate(best)} ("LoRA Without Regret", for a hidden size of ${hiddenSize}).`,
  ];
}
