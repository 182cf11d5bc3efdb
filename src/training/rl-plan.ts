// An RL job's body → the rows to train on, and an account of everything that is not trained. Pure: the same body and seed
// give the same plan, which is what lets a job be replayed after a crash.
import { createHash } from 'node:crypto';
import { createRandom } from '#base/random';
import type { Skipped } from '#domain/training-job';
import type { RlJobBody } from '#domain/trajectory';
import { groupAdvantages, tokenSignals } from './advantage.ts';
import { packRows, trainedCount, truncate, type Datum, type PackedRow } from './packing.ts';
import { resolveRlConfig, type RlConfig } from './rl-config.ts';
import { groupMetrics, type RewardMetrics } from './rl-metrics.ts';
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

/** `seed`: any text; equal texts shuffle alike. */
export function planRlJob(body: RlJobBody, encoder: ConversationEncoder, rowLengthMax: number, seed: string): RlPlan {
  const config = resolveRlConfig(body.config);
  const skipped = new Map<string, number>();
  const skip = (reason: string, count = 1) => void skipped.set(reason, (skipped.get(reason) ?? 0) + count);

  const advantages = groupAdvantages(
    body.groups.map((group) => group.trajectories.map(({ reward }) => reward)),
    config.scaleRewards,
  );
  const rollouts: Rollout[] = [];
  body.groups.forEach((group, g) => {
    if (group.exceptionCount > 0) skip('exceptions', group.exceptionCount);
    const equal = advantages[g]!.every((advantage) => advantage === 0);
    group.trajectories.forEach((trajectory, t) => {
      const tokenized = trajectory.histories.map((history) => tokenizeHistory(history, encoder));
      const found = tokenized.flatMap(({ sequences }) => sequences);
      const sequences = found.flatMap(
        (sequence) => truncate({ ...sequence, advantage: 0, weight: 0 }, rowLengthMax) ?? [],
      );
      const advantage = advantages[g]![t]!;
      if (found.length === 0) skip(tokenized.flatMap(({ problems }) => problems)[0] ?? 'no_trainable_tokens');
      else if (sequences.length === 0) skip('too_long');
      else if (equal) skip('equal_rewards');
      else if (advantage === 0) skip('zero_advantage');
      else
        rollouts.push({ group: g, advantage, sequences: sequences.filter((sequence) => trainedCount(sequence) > 0) });
    });
  });

  const data = weigh(rollouts, config.advantageBalance);
  if (data.some((datum) => datum.advantage === 0)) {
    skip(
      'zero_advantage',
      rollouts.filter((_, i) => data.some((datum) => datum.rollout === i && datum.advantage === 0)).length,
    );
  }
  const trained = data.filter(({ advantage }) => advantage !== 0);
  const groups = body.groups.map((_, g) => trained.filter((datum) => rollouts[datum.rollout]!.group === g));
  const rows = packRows(groups, Math.min(config.rowLength, rowLengthMax), createRandom(seedOf(seed)));
  return {
    config,
    rows,
    skipped: Object.fromEntries(skipped),
    rewards: groupMetrics(body.groups),
    counts: {
      num_groups_submitted: body.groups.length,
      num_groups_trainable: groups.filter((group) => group.length > 0).length,
      num_trajectories: body.groups.reduce((sum, group) => sum + group.trajectories.length, 0),
      num_datums: trained.length,
      num_trainable_tokens: trained.reduce((sum, datum) => sum + trainedCount(datum), 0),
    },
  };
}

function weigh(rollouts: readonly Rollout[], balance: number): (Datum & { rollout: number })[] {
  if (rollouts.length === 0) return [];
  const trainedTokens = (sequences: readonly TokenSequence[]) =>
    sequences.reduce((sum, sequence) => sum + trainedCount(sequence), 0);
  const signals = tokenSignals(
    rollouts.map(({ advantage, sequences }) => ({ advantage, trainedTokens: trainedTokens(sequences) })),
    balance,
  );
  return rollouts.flatMap(({ sequences }, rollout) =>
    sequences.map((sequence) => ({ ...sequence, ...signals[rollout]!, rollout })),
  );
}

const seedOf = (text: string): number => createHash('sha256').update(text).digest().readUIntBE(0, 6);
