// Warnings about an RL job before it trains, as an experienced person would give them: nothing to learn from, answers without an end, a
// learning rate far from what usually works. Advice, never a refusal. What only a model's last steps together show is
// loop-warnings.ts's; warnings about unused parts of a request are elsewhere.
import { counted } from '#base/counted';
import { fittedLearningRates, shortRate } from '#training/fitted-learning-rate';
import type { RlPlan } from '#training/rl-plan';
import { skippedInWords } from '#training/skip-count';
import type { StepMetrics } from '#training/step-metrics';
import { loopWarnings, type LoopStep } from './loop-warnings.ts';

export interface JudgedJob {
  readonly plan: Pick<
    RlPlan,
    | 'config'
    | 'skipped'
    | 'counts'
    | 'rewards'
    | 'rewardStandardError'
    | 'rows'
    | 'comparedGroups'
    | 'equalGroups'
    | 'cutOffTrajectories'
  >;
  /** The model's latest steps, oldest first. */
  readonly before: readonly LoopStep[];
  /** Hidden size of the model; null: unknown. */
  readonly hiddenSize: number | null;
}

export function jobWarnings({ plan, before, hiddenSize }: JudgedJob): string[] {
  const rate = plan.config.optimizer.learningRate;
  const unusual = plan.rows.length > 0 ? unusualLearningRate(rate, hiddenSize) : [];
  return [
    ...nothingToLearn(plan),
    ...cutOff(plan),
    ...loopWarnings(before, plan, unusual.length > 0 ? null : { rate, hiddenSize }),
    ...unusual,
  ];
}

/** Above this share, the limit decides rewards rather than the answers. */
const MANY_CUT_OFF = 0.1;

function cutOff({ cutOffTrajectories: count, counts: { num_trajectories: all } }: JudgedJob['plan']): string[] {
  if (count <= MANY_CUT_OFF * all) return [];
  return [
    `In ${count} of ${counted(all, 'trajectory')}, an answer ended at its token limit (finish_reason length): their rewards judge answers ` +
      'without an end. Raise max_tokens where you sample, or ask for shorter answers.',
  ];
}

function nothingToLearn({ rows, skipped, counts: { num_trajectories: all } }: JudgedJob['plan']): string[] {
  const { no_logprobs: unknown = 0 } = skipped;
  return [
    ...(rows.length === 0 ? [nothingTrained(skipped, all)] : []),
    ...(unknown > 0
      ? [
          `In ${unknown} of ${counted(all, 'trajectory')}, answers have no tokens or log-probabilities and were not trained. ` +
            'Send choices as they came from the chat endpoint, with logprobs or return_token_ids. The server remembers the answers of trainable ' +
            'models, not of base models: ask project/name, the model that you train.',
        ]
      : []),
  ];
}

/** The checkpoint equals the previous one: a training loop must not mistake it for progress. */
function nothingTrained(skipped: JudgedJob['plan']['skipped'], all: number): string {
  if (all > 0 && skipped['equal_rewards'] === all)
    return 'All rewards are equal within their groups: nothing was trained. Reward what is better, or sample more per prompt.';
  const counted = skippedInWords(skipped);
  const remedies = Object.entries(skipped).flatMap(([reason, count]) => (count > 0 ? (REMEDIES[reason] ?? []) : []));
  return [
    `Nothing was trained: no trajectory has a token to learn from${counted === '' ? '' : ` (${counted})`}.`,
    ...(remedies.length > 0 ? remedies : ['Send groups of trajectories with choices and rewards that differ.']),
  ].join(' ');
}

const REMEDIES: Readonly<Record<string, string>> = {
  equal_rewards: 'Let rewards differ within a group.',
  zero_advantage: 'Let rewards differ within a group, and check advantage_balance.',
  no_trainable_tokens:
    'Send choices of the chat endpoint in messages_and_choices, where plain messages are context, or episodes whose calls name the model.',
  unknown_tokens: 'Send choices as this base model sampled them.',
  refused_by_template:
    'The prompts of their choices had to be rendered, and the chat template refuses those conversations, or the model has none (--chat-template FILE): send prompt_token_ids with choices.',
  logprob_count_mismatch: 'Send choices as they came, without changing their log-probabilities.',
  stale: 'Train sooner after sampling, or raise max_staleness.',
  too_long: 'Send shorter conversations: their answers are beyond the context.',
  exceptions: 'Find out why the rollouts failed.',
};

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

/** `shown`: the metrics of a gradient step. */
export function hiddenMetricWarnings({ clientMetrics }: Pick<RlPlan, 'clientMetrics'>, shown: StepMetrics): string[] {
  const hidden = Object.keys(clientMetrics).filter(
    (name) => Object.hasOwn(shown, name) && shown[name] !== clientMetrics[name],
  );
  if (hidden.length === 0) return [];
  const names = hidden.slice(0, NAMES_SHOWN).join(', ');
  return [
    `Metrics of the trajectories that are not shown, because the job has its own of the same name: ${names}. Give them other names.`,
  ];
}

const NAMES_SHOWN = 20;
