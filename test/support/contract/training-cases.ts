// Rows, losses, settings and short training runs for the contract of training engines.
import type { LossProgram } from '#engine/loss-program';
import type { TrainingRow, TrainingSession } from '#engine/training-engine';
import { trainRow } from '../learning/one-row.ts';
import { plainRow } from '../learning/tiny-decoders.ts';
import { randomPrompt } from './inference-engine.ts';

export const ROW_LENGTH_MAX = 48;
export const LORA = { rank: 4, alpha: 8, seed: 3 };
export const ADAMW = { learningRate: 0.01, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.1, maxGradNorm: 1 };
export const ROW = plainRow(randomPrompt(40, 2), {});
const TOO_LONG_ROW = plainRow(randomPrompt(ROW_LENGTH_MAX + 1, 1), {});
export const OTHER_ROW = plainRow(randomPrompt(9, 3), {});
export const NO_TARGETS = {
  predictFrom: new Int32Array(0),
  targets: new Int32Array(0),
  sequenceIds: new Int32Array(0),
};

export const REFUSED_ROWS: readonly (readonly [string, TrainingRow])[] = [
  ['no tokens', { ...ROW, tokens: new Int32Array(0), positions: new Int32Array(0), segments: new Int32Array(0) }],
  ['a token outside the vocabulary', { ...ROW, tokens: ROW.tokens.with(3, 260) }],
  ['a target outside the vocabulary', { ...ROW, targets: ROW.targets.with(3, -1) }],
  ['a place outside the row', { ...ROW, predictFrom: ROW.predictFrom.with(0, 40) }],
  ['a segment that is not there', { ...ROW, segments: ROW.segments.with(0, 1) }],
  ['fewer positions than tokens', { ...ROW, positions: ROW.positions.slice(1) }],
];
export const TOO_MANY_TOKENS = ['more tokens than fit', TOO_LONG_ROW] as const;

export const crossEntropy: LossProgram = {
  name: 'cross-entropy',
  perToken: { op: 'neg', x: { op: 'logprob' } },
  metrics: { entropy: { op: 'entropy' } },
};
export const weighted: LossProgram = {
  name: 'weighted',
  perToken: { op: 'mul', x: { op: 'input', name: 'weights' }, y: { op: 'logprob' } },
  metrics: {},
};
export const scaled = (value: number): LossProgram => ({
  name: 'scaled',
  perToken: { op: 'mul', x: { op: 'constant', value }, y: { op: 'logprob' } },
  metrics: {},
});

/** Alternates between two rows, a step for each. Returns the losses. */
export async function train(target: TrainingSession, steps: number): Promise<number[]> {
  const losses: number[] = [];
  for (let step = 0; step < steps; step++) {
    losses.push((await trainRow(target, step % 2 === 0 ? ROW : OTHER_ROW, crossEntropy)).loss);
    await target.optimStep(ADAMW);
  }
  return losses;
}

/** The norm of the gradients of these rows together; the weights stay as they are. */
export async function gradNormOf(target: TrainingSession, rows: readonly TrainingRow[]): Promise<number> {
  for (const row of rows) await trainRow(target, row, crossEntropy);
  return (await target.optimStep({ ...ADAMW, learningRate: 0 })).gradNorm;
}

export const sum = (values: Float32Array): number => values.reduce((a, b) => a + b, 0);

/** Log-probability of one token under `[vocab]` logits, in float64. */
export const logprobOf = (logits: Float32Array, token: number): number =>
  logits[token]! - Math.log(logits.reduce((total, x) => total + Math.exp(x), 0));
