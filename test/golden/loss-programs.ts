// The losses of python/golden/losses.py as loss programs, term by term.
import type { LossExpression, LossProgram } from '#engine/loss-program';
import type { LossName, ModelExpectations } from './fixture.ts';

const logprob: LossExpression = { op: 'logprob' };
const input = (name: string): LossExpression => ({ op: 'input', name });
const constant = (value: number): LossExpression => ({ op: 'constant', value });
const mul = (x: LossExpression, y: LossExpression): LossExpression => ({ op: 'mul', x, y });
const neg = (x: LossExpression): LossExpression => ({ op: 'neg', x });
const clip = (x: LossExpression, low: number, high: number): LossExpression => ({
  op: 'min',
  x: { op: 'max', x, y: constant(low) },
  y: constant(high),
});

export function goldenLoss(name: LossName, clipRanges: ModelExpectations['clip']): LossProgram {
  return { name: `golden-${name}`, perToken: perToken(name, clipRanges), metrics: {} };
}

function perToken(name: LossName, clipRanges: ModelExpectations['clip']): LossExpression {
  if (name === 'cross_entropy') return neg(logprob);
  const { ppo, epsilon, epsilonHigh } = clipRanges[name];
  const advantage = input('advantages');
  const ratio: LossExpression = { op: 'exp', x: { op: 'sub', x: logprob, y: input('oldLogprobs') } };
  const bounded = clip(ratio, 1 - epsilon, 1 + epsilonHigh);
  const objective: LossExpression = ppo
    ? { op: 'min', x: mul(ratio, advantage), y: mul(bounded, advantage) }
    : mul({ op: 'stopGradient', x: bounded }, mul(advantage, logprob));
  return neg(mul(objective, input('weights')));
}
