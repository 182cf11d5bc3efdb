// An RL job's groups → the rows to train on, and an account of everything that is not trained. Reads the groups once, one
// at a time; the same groups and seed give the same plan, which is what lets a job be replayed after a crash.
import { createHash } from 'node:crypto';
import { createBreather } from '#base/breather';
import { createRandom } from '#base/random';
import type { Skipped } from '#domain/training-job';
import type { RlConfigInput, Trajectory, TrajectoryGroup } from '#domain/trajectory';
import { groupAdvantages, tokenSignals } from './advantage.ts';
import { packRows, trainedCount, truncate, type Datum, type PackedRow } from './packing.ts';
import { createPrefixTree } from './prefix-tree.ts';
import { resolveRlConfig, type RlConfig } from './rl-config.ts';
import { groupMetrics, rewardsOf, type GroupRewards, type RewardMetrics } from './rl-metrics.ts';
import { rowLengthFor, type RowBudget } from './row-budget.ts';
import { createSkipCount } from './skip-count.ts';
import { tokenizeHistory, type ConversationEncoder, type TokenSequence } from './tokenize.ts';

export interface RlPlan {
  readonly config: RlConfig;
  readonly rows: readonly PackedRow[];
  /** Rollouts (and, for `exceptions`, failed ones) by the reason why they are not trained. */
  readonly skipped: Skipped;
  readonly rewards: RewardMetrics;
  readonly counts: {
    readonly num_groups_submitted: number;
    readonly num_groups_trainable: number;
    readonly num_trajectories: number;
    readonly num_datums: number;
    readonly num_trainable_tokens: number;
  };
}

interface Rollout {
  readonly group: number;
  readonly advantage: number;
  readonly sequences: readonly TokenSequence[];
}

export interface PlanContext {
  readonly encoder: ConversationEncoder;
  readonly budget: RowBudget;
  /** Any text, asked for after the last group; equal texts shuffle alike. */
  readonly seed: () => string;
}

/** Throws `row_too_long` where the longest sequence does not fit into the memory for training. */
export async function planRlJob(
  groups: AsyncIterable<TrajectoryGroup> | Iterable<TrajectoryGroup>,
  input: RlConfigInput,
  { encoder, budget, seed }: PlanContext,
): Promise<RlPlan> {
  const config = resolveRlConfig(input);
  const skips = createSkipCount();
  const breathe = createBreather();
  const rewards: GroupRewards[] = [];
  const rollouts: Rollout[] = [];
  for await (const group of groups) {
    const number = rewards.push(rewardsOf(group)) - 1;
    skips.add('exceptions', group.exceptionCount);
    const [advantages] = groupAdvantages([group.trajectories.map(({ reward }) => reward)], config.scaleRewards);
    const allEqual = advantages!.every((advantage) => advantage === 0);
    for (const [t, trajectory] of group.trajectories.entries()) {
      const advantage = advantages![t]!;
      const read = readTrajectory(trajectory, encoder, config, budget.contextLength);
      if (typeof read === 'string') skips.add(read);
      else if (advantage === 0) skips.add(allEqual ? 'equal_rewards' : 'zero_advantage');
      else rollouts.push({ group: number, advantage, sequences: read });
      await breathe();
    }
  }

  const weighed = weigh(rollouts, config.advantageBalance);
  const trained = weighed.filter(({ data }) => data[0]!.advantage !== 0);
  skips.add('zero_advantage', weighed.length - trained.length);
  const byGroup = rewards.map((_, g) => trained.filter(({ group }) => group === g).map(({ data }) => data));
  const rowLength = rowLengthFor(config.rowLength, budget, byGroup.map(groupSize), longestOf(byGroup.flat(2)));
  const rows = packRows(byGroup, rowLength, createRandom(seedOf(seed())));
  return {
    config,
    rows,
    skipped: skips.counts(),
    rewards: groupMetrics(rewards),
    counts: {
      num_groups_submitted: rewards.length,
      num_groups_trainable: byGroup.filter((group) => group.length > 0).length,
      num_trajectories: rewards.reduce((sum, group) => sum + group.trajectories.length, 0),
      num_datums: byGroup.flat(2).length,
      num_trainable_tokens: byGroup.flat(2).reduce((sum, datum) => sum + trainedCount(datum), 0),
    },
  };
}

/** What there is to train in it, or the reason why there is nothing. */
function readTrajectory(
  { histories }: Trajectory,
  encoder: ConversationEncoder,
  { trainsUnsampled }: RlConfig,
  lengthMax: number,
): readonly TokenSequence[] | string {
  const tokenized = histories.map((history) => tokenizeHistory(history, encoder, trainsUnsampled ? 'all' : 'none'));
  const found = tokenized.flatMap(({ sequences }) => sequences);
  if (found.length === 0) return tokenized.flatMap(({ problems }) => problems)[0] ?? 'no_trainable_tokens';
  const kept = found.flatMap((sequence) => truncate(sequence, lengthMax) ?? []).filter((s) => trainedCount(s) > 0);
  return kept.length > 0 ? kept : 'too_long';
}

function weigh(rollouts: readonly Rollout[], balance: number): { group: number; data: readonly Datum[] }[] {
  if (rollouts.length === 0) return [];
  const trainedTokens = (sequences: readonly TokenSequence[]) =>
    sequences.reduce((sum, sequence) => sum + trainedCount(sequence), 0);
  const signals = tokenSignals(
    rollouts.map(({ advantage, sequences }) => ({ advantage, trainedTokens: trainedTokens(sequences) })),
    balance,
  );
  return rollouts.map(({ group, sequences }, i) => ({
    group,
    data: sequences.map((sequence) => ({ ...sequence, ...signals[i]! })),
  }));
}

/** Tokens of a row that holds the whole group. */
function groupSize(rollouts: readonly (readonly Datum[])[]): number {
  const tree = createPrefixTree();
  for (const { tokens } of rollouts.flat()) tree.add(tokens);
  return tree.size;
}

const longestOf = (data: readonly Datum[]): number =>
  data.reduce((most, { tokens }) => Math.max(most, tokens.length), 0);

const seedOf = (text: string): number => createHash('sha256').update(text).digest().readUIntBE(0, 6);
