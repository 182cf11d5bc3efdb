// What the bench time-to-reward compares: a trainer that learns from rewards step by step, or from rows in one job.
import type { Cost } from './process-tree.ts';
import type { RewardTask } from './reward-tasks.ts';

/** Settings that both trainers get. Rank and alpha are 8 and 16 on all linear layers, the weights float32. */
export const RL_RATE = 3e-4;
export const ROWS_RATE = 1e-4;
export const ROWS_PER_STEP = 8;
export const DPO_BETA = 0.1;

export interface RlStep {
  readonly reward: number;
  readonly cost: Cost;
}

export interface RlContestant {
  readonly step: (index: number) => Promise<RlStep>;
  readonly close: () => Promise<void>;
}

export interface RlJob {
  readonly task: RewardTask;
  readonly steps: number;
}

/** `sft` or `dpo` over the same rows in the same order. */
export interface RowsJob {
  readonly kind: 'sft' | 'dpo';
  readonly rows: readonly object[];
  readonly steps: number;
}

export interface RowsResult {
  /** By step, in nats. */
  readonly losses: readonly number[];
  readonly cost: Cost;
}

export const indexesOf = ({ tasksPerStep }: RewardTask, step: number): readonly number[] =>
  Array.from({ length: tasksPerStep }, (_, i) => step * tasksPerStep + i);

export const mean = (xs: readonly number[]): number => xs.reduce((sum, x) => sum + x, 0) / xs.length;
