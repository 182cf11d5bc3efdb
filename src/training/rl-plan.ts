// Turns an RL job's groups into rows to train on, and an account of everything that is not trained. Reads the groups once, one at a time;
// the same groups and seed give the same plan, so that a job can be replayed after a crash.
import { createHash } from 'node:crypto';
import { counted } from '#base/counted';
import { createYielder } from '#base/yield-to-loop';
import { createRandom } from '#base/random';
import type { Skipped } from '#domain/training-job';
import type { RlConfigInput, Trajectory, TrajectoryGroup } from '#domain/trajectory';
import { groupAdvantages, tokenSignals, turnAdvantages, type RolloutPart } from './advantage.ts';
import { createTokenLimit } from './job-tokens.ts';
import { packRows, type Datum, type PackedRow } from './packing.ts';
import { resolveRlConfig, type RlConfig, type RlSetting } from './rl-config.ts';
import {
  groupMetrics,
  rewardsOf,
  rewardStandardError,
  trajectoryMetrics,
  type GroupRewards,
  type RewardMetrics,
} from './rl-metrics.ts';
import { rowLengthFor, rowLengthWarnings, type RowBudget } from './row-budget.ts';
import { createSkipCount, skippedInWords } from './skip-count.ts';
import type { ConversationEncoder } from './conversation-encoder.ts';
import { meanStaleness, stalenessOf, type Staleness } from './staleness.ts';
import { trainedCount, type SequenceLimits, type TokenSequence, type TrainedRun } from './token-sequence.ts';
import { tokenizeHistory, type TokenizedHistory } from './tokenize.ts';

export interface RlPlan {
  readonly config: RlConfig;
  readonly rows: readonly PackedRow[];
  /**
   * Rollouts (and, for `exceptions`, failed ones) by the reason why they are not trained. `truncated` ones are trained, but not to
   * their end.
   */
  readonly skipped: Skipped;
  /** The same by trajectory; trajectories that are not listed are trained to their end. */
  readonly outcomes: readonly Outcome[];
  /** Settings that could not be applied as requested. */
  readonly warnings: readonly string[];
  readonly rewards: RewardMetrics;
  /** Those of trajectories alone. */
  readonly clientMetrics: RewardMetrics;
  /** Standard error of the mean reward; null: unknown. */
  readonly rewardStandardError: number | null;
  /** Of the trained tokens; null: no step is known. */
  readonly staleness: Staleness | null;
  /** Groups of two or more trajectories, and how many of them have equal rewards. */
  readonly comparedGroups: number;
  readonly equalGroups: number;
  /** Trajectories with an answer that ended at its token limit. */
  readonly cutOffTrajectories: number;
  readonly counts: {
    readonly num_groups_submitted: number;
    readonly num_groups_trainable: number;
    readonly num_trajectories: number;
    readonly num_datums: number;
    readonly num_trainable_tokens: number;
    /** For the trained rollouts: prompts that neither the choices nor the server's memory contained. */
    readonly num_rendered_prompts: number;
    /** For the trained rollouts: turns whose log-probabilities are those of a masked distribution. */
    readonly num_constrained_turns: number;
    /** For the trained rollouts: turns that were sampled from another distribution than the policy's own. */
    readonly num_reshaped_turns: number;
  };
}

export interface Outcome {
  readonly group: number;
  readonly trajectory: number;
  /** `truncated`, or why nothing of it is trained. */
  readonly reason: string;
}

/** The trainable parts of a trajectory. */
interface ReadRollout {
  readonly sequences: readonly TokenSequence[];
  /** Some of its sampled tokens lie beyond the context and are not trained. */
  readonly isTruncated: boolean;
  readonly renderedPrompts: number;
  readonly constrainedTurns: number;
  readonly reshapedTurns: readonly (readonly string[])[];
  /** Why choices of it are only context. */
  readonly untrainedTurns: readonly string[];
}

interface Rollout extends ReadRollout {
  readonly group: number;
  readonly trajectory: number;
  /** One for all its tokens; if turns of its group have rewards of their own, one for each run. */
  readonly parts: readonly RolloutPart[];
}

export interface PlanContext extends RlSetting {
  readonly encoder: ConversationEncoder;
  readonly budget: RowBudget;
  /** The step that the job starts from. Absent: unknown, and with it how old the tokens are. */
  readonly startStep?: number;
  /** Any text, read after the last group; equal texts give the same order. */
  readonly seed: () => string;
  /** Limit on all sequences together. Absent: job-tokens.ts. */
  readonly tokensMax?: number;
}

/** Throws `invalid_training_data` if there are too many tokens, `row_too_long` as rowLengthFor. */
export async function planRlJob(
  groups: AsyncIterable<TrajectoryGroup> | Iterable<TrajectoryGroup>,
  input: RlConfigInput,
  { encoder, budget, startStep = -1, seed, tokensMax, ...setting }: PlanContext,
): Promise<RlPlan> {
  const config = resolveRlConfig(input, setting);
  const skips = createSkipCount();
  const yieldToLoop = createYielder();
  const rewards: GroupRewards[] = [];
  const rollouts: Rollout[] = [];
  const outcomes: Outcome[] = [];
  let [comparedGroups, equalGroups, cutOffTrajectories] = [0, 0, 0];
  const skip = (group: number, trajectory: number, reason: string) => {
    skips.add(reason);
    outcomes.push({ group, trajectory, reason });
  };
  const limits = { lengthMax: budget.contextLength, count: createTokenLimit(tokensMax) };
  for await (const group of groups) {
    const number = rewards.push(rewardsOf(group)) - 1;
    skips.add('exceptions', group.exceptionCount);
    const read: (ReadRollout | string)[] = [];
    for (const trajectory of group.trajectories) {
      if (isCutOff(trajectory)) cutOffTrajectories++;
      read.push(await readTrajectory(trajectory, encoder, config, limits, startStep));
      await yieldToLoop();
    }
    const parts = partsOf(group, read, config.scaleRewards);
    const allEqual = parts.flat().every(({ advantage }) => advantage === 0);
    if (read.length > 1) comparedGroups++;
    if (read.length > 1 && allEqual) equalGroups++;
    for (const [t, rollout] of read.entries()) {
      if (typeof rollout === 'string') skip(number, t, rollout);
      else if (hasNoSignal(parts[t]!)) skip(number, t, allEqual ? 'equal_rewards' : 'zero_advantage');
      else rollouts.push({ group: number, trajectory: t, parts: parts[t]!, ...rollout });
    }
  }

  const weighed = weigh(rollouts, config.advantageBalance);
  const trained = weighed.filter(({ parts }) => !hasNoSignal(parts));
  for (const { group, trajectory, parts, isTruncated } of weighed) {
    if (hasNoSignal(parts)) skip(group, trajectory, 'zero_advantage');
    else if (isTruncated) skip(group, trajectory, 'truncated');
  }
  const byGroup = rewards.map((_, g) => trained.filter(({ group }) => group === g).map(({ data }) => data));
  const rowLength = rowLengthFor(config.rowLength, budget, longestOf(byGroup.flat(2)));
  const renderedPrompts = sumOf(trained, (rollout) => rollout.renderedPrompts);
  const constrainedTurns = sumOf(trained, (rollout) => rollout.constrainedTurns);
  const reshapedTurns = trained.flatMap((rollout) => rollout.reshapedTurns);
  const untrainedTurns = trained.flatMap((rollout) => rollout.untrainedTurns);
  const sequences = byGroup.flat(2);
  const rows = packRows(byGroup, rowLength, createRandom(seedOf(seed())), budget.sharing);
  return {
    config,
    rows,
    skipped: skips.counts(),
    outcomes,
    warnings:
      rows.length === 0
        ? []
        : [
            ...rowLengthWarnings(config.rowLength, budget, rowLength),
            ...untrainedTurnWarnings(untrainedTurns),
            ...renderedPromptWarnings(renderedPrompts),
            ...constraintWarnings(config.loss.precalculates ? 0 : constrainedTurns),
            ...reshapingWarnings(reshapedTurns),
            ...unknownStepWarnings(config.maxStaleness === null ? [] : sequences, startStep),
          ],
    rewards: groupMetrics(rewards),
    clientMetrics: trajectoryMetrics(rewards),
    rewardStandardError: rewardStandardError(rewards),
    staleness: meanStaleness(sequences, startStep),
    comparedGroups,
    equalGroups,
    cutOffTrajectories,
    counts: {
      num_groups_submitted: rewards.length,
      num_groups_trainable: byGroup.filter((group) => group.length > 0).length,
      num_trajectories: sumOf(rewards, (group) => group.trajectories.length),
      num_datums: sequences.length,
      num_trainable_tokens: sumOf(sequences, trainedCount),
      num_rendered_prompts: renderedPrompts,
      num_constrained_turns: constrainedTurns,
      num_reshaped_turns: reshapedTurns.length,
    },
  };
}

const hasNoSignal = (parts: readonly RolloutPart[]): boolean => parts.every(({ advantage }) => advantage === 0);

/** By trajectory. Those that are not trained count in the mean of the rewards all the same. */
function partsOf(
  { trajectories }: TrajectoryGroup,
  read: readonly (ReadRollout | string)[],
  scale: boolean,
): readonly (readonly RolloutPart[])[] {
  const [advantages] = groupAdvantages([trajectories.map(({ reward }) => reward)], scale);
  const runs = read.map((rollout) => (typeof rollout === 'string' ? [] : runsOf(rollout)));
  const ofTurns = turnAdvantages(
    runs.map((ofRollout) => ofRollout.map(({ reward }) => reward)),
    scale,
  );
  const rewardsTurns = ofTurns.flat().some((advantage) => advantage !== 0);
  return runs.map((ofRollout, t) => {
    const advantage = advantages![t]!;
    if (!rewardsTurns) return [{ advantage, trainedTokens: sumOf(ofRollout, ({ length }) => length) }];
    return ofRollout.map(({ length }, i) => ({ advantage: advantage + ofTurns[t]![i]!, trainedTokens: length }));
  });
}

const runsOf = ({ sequences }: Pick<ReadRollout, 'sequences'>): readonly TrainedRun[] =>
  sequences.flatMap(({ runs = [] }) => runs);

const isCutOff = ({ histories }: Trajectory): boolean =>
  histories.some(({ turns }) => turns.some((turn) => turn.kind === 'sampled' && turn.finishReason === 'length'));

/** Or the reason why there is nothing to train. */
async function readTrajectory(
  { histories, notes }: Trajectory,
  encoder: ConversationEncoder,
  { trainsUnsampled, maxStaleness }: RlConfig,
  limits: SequenceLimits,
  startStep: number,
): Promise<ReadRollout | string> {
  const tokenized: TokenizedHistory[] = [];
  for (const history of histories) {
    tokenized.push(await tokenizeHistory(history, encoder, trainsUnsampled ? 'all' : 'none', limits));
  }
  const sequences = tokenized
    .flatMap((each) => each.sequences)
    .filter((sequence) => trainedCount(sequence) > 0)
    .map((sequence) => withStep(sequence, notes?.initialPolicyVersion ?? null));
  const isTruncated = tokenized.some(({ cut }) => cut.trainedTokens > 0);
  const renderedPrompts = sumOf(tokenized, (each) => each.renderedPrompts);
  const constrainedTurns = sumOf(tokenized, (each) => each.constrainedTurns);
  const reshapedTurns = tokenized.flatMap((each) => each.reshapedTurns);
  const isStale = (run: TrainedRun) => maxStaleness !== null && (stalenessOf(run, startStep) ?? 0) > maxStaleness;
  if (runsOf({ sequences }).some(isStale)) return 'stale';
  const problems = tokenized.flatMap((each) => each.problems);
  const untrainedTurns = problems.filter((problem) => problem !== 'no_trainable_tokens');
  if (sequences.length > 0)
    return { sequences, isTruncated, renderedPrompts, constrainedTurns, reshapedTurns, untrainedTurns };
  return isTruncated ? 'too_long' : (problems[0] ?? 'no_trainable_tokens');
}

/** Where a turn does not say which step sampled it: the step at which its rollout began. */
const withStep = (sequence: TokenSequence, initial: number | null): TokenSequence => ({
  ...sequence,
  runs: (sequence.runs ?? []).map((run) => ({
    ...run,
    policyStep: run.policyStep ?? (initial !== null && initial >= 0 ? initial : null),
  })),
});

interface WeighedRollout extends Omit<Rollout, 'sequences'> {
  readonly data: readonly Datum[];
}

function weigh(rollouts: readonly Rollout[], balance: number): WeighedRollout[] {
  if (rollouts.length === 0) return [];
  const signals = tokenSignals(
    rollouts.map(({ parts }) => parts),
    balance,
  );
  return rollouts.map(({ sequences, ...rollout }, i) => {
    const { advantages, weight } = signals[i]!;
    const parts = rollout.parts.map((part, at) => ({ ...part, advantage: advantages[at]! }));
    let next = 0;
    const data = sequences.map((each, sequence): Datum => {
      const own = each.runs!.length;
      const origin = { group: rollout.group, trajectory: rollout.trajectory, sequence };
      if (parts.length === 1) return { ...each, advantage: advantages[0]!, weight, origin };
      const runAdvantages = advantages.slice(next, (next += own));
      const sum = sumOf([...each.runs!.entries()], ([at, { length }]) => length * runAdvantages[at]!);
      return { ...each, advantage: sum / trainedCount(each), runAdvantages, weight, origin };
    });
    return { ...rollout, parts, data };
  });
}

/** Of trajectories that count as trained: whoever sent the choices expects all of them to be. */
function untrainedTurnWarnings(problems: readonly string[]): string[] {
  if (problems.length === 0) return [];
  const reasons = createSkipCount();
  for (const problem of problems) reasons.add(problem);
  return [
    `${counted(problems.length, 'choice')} of trained trajectories ${problems.length === 1 ? 'was' : 'were'} context and not trained (${skippedInWords(reasons.counts())}). ` +
      'Send choices as they came from the chat endpoint.',
  ];
}

/** What a client can do so that its tokens are trained after the prompt they were sampled after (decision 13). */
function renderedPromptWarnings(count: number): string[] {
  if (count === 0) return [];
  const what = count === 1 ? '1 prompt was' : `${count} prompts were`;
  return [
    `${what} rendered from the messages: neither the choices nor this server's record had their tokens. ` +
      'If the chat request had fields that the trajectory lacks, the answers were sampled with another prompt. ' +
      'Send prompt_token_ids with each choice.',
  ];
}

/** The same for answers whose tokens were sampled from a masked distribution. */
function constraintWarnings(count: number): string[] {
  if (count === 0) return [];
  const what = count === 1 ? '1 turn was' : `${count} turns were`;
  return [
    `${what} sampled under a constraint (tool_choice, strict tools, response_format, guided fields): the log-probabilities are ` +
      'those of the constrained distribution, the trainer computes those of the unconstrained one, so their ratio is not 1 even ' +
      'if the policy has not changed. Set precalculate_logprobs in experimental_config.',
  ];
}

/** Nothing is skipped because its age is not known. */
function unknownStepWarnings(sequences: readonly TokenSequence[], startStep: number): string[] {
  const count = runsOf({ sequences }).filter((run) => stalenessOf(run, startStep) === null).length;
  if (count === 0) return [];
  const what = count === 1 ? '1 trained turn does' : `${count} trained turns do`;
  return [
    `max_staleness could not judge all turns: ${what} not say which step of this model sampled them, and the server does not remember. ` +
      'Send choices with their policy_step, as they came.',
  ];
}

/** Their log-probabilities are those of the policy, so no ratio reveals it: they were sampled off-policy all the same. */
function reshapingWarnings(turns: readonly (readonly string[])[]): string[] {
  if (turns.length === 0) return [];
  const what = turns.length === 1 ? '1 turn was' : `${turns.length} turns were`;
  const fields = [...new Set(turns.flat())].sort().join(', ');
  return [
    `${what} sampled off-policy, from a distribution that ${fields} changed: the loss treats them as samples of the policy itself. ` +
      "Sample rollouts with temperature 1 and no other sampling fields; if the model's defaults set a field, send the value that switches it off.",
  ];
}

const sumOf = <T>(list: readonly T[], amount: (item: T) => number): number =>
  list.reduce((sum, item) => sum + amount(item), 0);

const longestOf = (data: readonly Datum[]): number =>
  data.reduce((most, { tokens }) => Math.max(most, tokens.length), 0);

const seedOf = (text: string): number => createHash('sha256').update(text).digest().readUIntBE(0, 6);
