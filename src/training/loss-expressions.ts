// The language of losses: one function for each kind of LossExpression node.
import type { LossExpression } from '#engine/loss-program';

export const logprob: LossExpression = { op: 'logprob' };
export const input = (name: string): LossExpression => ({ op: 'input', name });
export const constant = (value: number): LossExpression => ({ op: 'constant', value });

const unary =
  (op: 'neg' | 'exp' | 'sqrt' | 'stopGradient' | 'isNaN' | 'mean' | 'largest' | 'smallest' | 'sequenceMean') =>
  (x: LossExpression): LossExpression => ({ op, x });
const binary =
  (op: 'add' | 'sub' | 'mul' | 'div' | 'min' | 'max' | 'less') =>
  (x: LossExpression, y: LossExpression): LossExpression => ({ op, x, y });

export const where = (condition: LossExpression, x: LossExpression, y: LossExpression): LossExpression => ({
  op: 'where',
  condition,
  x,
  y,
});
export const [neg, exp, sqrt, stopGradient] = [unary('neg'), unary('exp'), unary('sqrt'), unary('stopGradient')];
export const [isNaN, mean, largest, smallest] = [unary('isNaN'), unary('mean'), unary('largest'), unary('smallest')];
export const sequenceMean = unary('sequenceMean');
export const [add, sub, mul, div] = [binary('add'), binary('sub'), binary('mul'), binary('div')];
export const [min, max, less] = [binary('min'), binary('max'), binary('less')];
