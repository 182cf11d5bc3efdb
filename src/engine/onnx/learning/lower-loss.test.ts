import { describe, expect, test } from 'vitest';
import { createRandom } from '#base/random';
import type { LossExpression, LossProgram } from '../../loss-program.ts';
import { gradients } from '../graph/autodiff.ts';
import { Graph } from '../graph/graph.ts';
import { openSession } from '../graph/session.ts';
import { lossInputName, lowerLoss, programInputs, programUses } from './lower-loss.ts';

const logprob: LossExpression = { op: 'logprob' };
const input = (name: string): LossExpression => ({ op: 'input', name });
const constant = (value: number): LossExpression => ({ op: 'constant', value });
const unary = (op: 'neg' | 'exp' | 'sqrt' | 'stopGradient' | 'isNaN', x: LossExpression): LossExpression => ({ op, x });
const binary = (
  op: 'add' | 'sub' | 'mul' | 'div' | 'min' | 'max' | 'less',
  x: LossExpression,
  y: LossExpression,
): LossExpression => ({ op, x, y });

const old: LossExpression = {
  op: 'where',
  condition: unary('isNaN', input('old')),
  x: unary('stopGradient', logprob),
  y: input('old'),
};
const difference = binary('sub', logprob, old);
const ratio = unary('exp', difference);
const clipped = binary('max', binary('min', ratio, constant(1.2)), constant(0.8));

const PROGRAMS: Record<string, LossExpression> = {
  'cross-entropy': unary('neg', logprob),
  'a constant': constant(3),
  'clipped ratio, two sides': unary(
    'neg',
    binary('min', binary('mul', ratio, input('advantage')), binary('mul', clipped, input('advantage'))),
  ),
  'weights that carry no gradient': unary(
    'neg',
    binary('mul', binary('mul', unary('stopGradient', clipped), input('advantage')), logprob),
  ),
  'sequence-level ratio': binary('mul', unary('exp', { op: 'sequenceMean', x: difference }), input('advantage')),
  'mean of a constant': binary('mul', { op: 'sequenceMean', x: constant(2) }, logprob),
  'geometric average of ratios': unary(
    'sqrt',
    binary('mul', ratio, unary('exp', { op: 'sequenceMean', x: difference })),
  ),
  'a mask made of comparisons': {
    op: 'where',
    condition: binary('mul', binary('less', constant(0.8), ratio), binary('less', ratio, constant(1.2))),
    x: binary('div', logprob, constant(2)),
    y: constant(0),
  },
  'a comparison as a number': binary('mul', binary('less', ratio, constant(1)), logprob),
  'distance from the mean of the row': binary(
    'mul',
    binary('sub', { op: 'mean', x: ratio }, ratio),
    input('advantage'),
  ),
  'between the extremes': binary(
    'mul',
    binary('sub', { op: 'largest', x: difference }, { op: 'smallest', x: difference }),
    logprob,
  ),
  'mean of a constant over the row': binary('mul', { op: 'mean', x: constant(2) }, logprob),
  'entropy bonus': binary('sub', unary('neg', logprob), binary('mul', constant(0.01), { op: 'entropy' })),
};

const random = createRandom(11);
const COUNT = 9;
const draw = (low: number, high: number) => Array.from({ length: COUNT }, () => low + random.next() * (high - low));
const VALUES = {
  logprob: draw(-3, -0.1),
  entropy: draw(0, 2),
  inputs: { advantage: draw(-1, 1), old: draw(-3, -0.1).map((x, i) => (i % 4 === 1 ? NaN : x)) },
  sequences: [0, 0, 2, 2, 2, 1, 0, 1, 2],
};

describe.each(Object.entries(PROGRAMS))('%s', (name, perToken) => {
  test.each(['tokens', 'one'] as const)(
    'value and gradient equal the plain evaluation, denominator %s',
    async (denominator) => {
      const program: LossProgram = { name, perToken, denominator, metrics: { ratio, itself: perToken } };
      const run = await openLowered(program);
      const found = await run(VALUES.logprob);
      const scale = denominator === 'one' ? 1 : 1 / COUNT;
      const total = (logprobs: readonly number[]) => scale * sum(evaluate(perToken, logprobs, logprobs));
      expect(found.loss).toBeCloseTo(total(VALUES.logprob), 5);
      expect(found.ratio).toBeCloseTo(sum(evaluate(ratio, VALUES.logprob, VALUES.logprob)) / COUNT, 5);
      VALUES.logprob.forEach((x, i) => {
        const moved = (h: number) => VALUES.logprob.with(i, x + h);
        const at = (h: number) => scale * sum(evaluate(perToken, moved(h), VALUES.logprob));
        expect(found.gradient[i]!).toBeCloseTo((at(1e-5) - at(-1e-5)) / 2e-5, 4);
      });
      await run.close();
    },
  );
});

test('a program says which inputs it reads and which ops it uses', () => {
  const program: LossProgram = {
    name: 'p',
    perToken: binary('mul', { op: 'sequenceMean', x: difference }, input('weights')),
    metrics: { entropy: { op: 'entropy' } },
  };
  expect([...programInputs(program)].sort()).toEqual(['old', 'weights']);
  expect(programUses(program, 'sequenceMean')).toBe(true);
  expect(programUses(program, 'entropy')).toBe(true);
  expect(programUses(program, 'sqrt')).toBe(false);
});

async function openLowered(program: LossProgram) {
  const g = new Graph();
  const value = g.input('logprob', 'float32', ['trained']);
  const entropy = g.input('entropy', 'float32', ['trained']);
  const { loss, metrics } = lowerLoss(g, program, { logprob: value, entropy });
  g.output('loss', loss);
  for (const [name, metric] of metrics) g.output(name, metric);
  g.output('gradient', gradients(g, loss, [value])[0]!);
  const session = await openSession(g, { threads: 1 });
  const column = (values: readonly number[]) => ({ data: Float32Array.from(values), dims: [COUNT] });
  const membership = new Float32Array(3 * COUNT);
  VALUES.sequences.forEach((sequence, i) => (membership[sequence * COUNT + i] = 1));
  const run = async (logprobs: readonly number[]) => {
    const results = await session.run({
      logprob: column(logprobs),
      entropy: column(VALUES.entropy),
      ...Object.fromEntries(
        [...programInputs(program)].map((name) => [
          lossInputName(name),
          column(VALUES.inputs[name as keyof typeof VALUES.inputs]),
        ]),
      ),
      ...(programUses(program, 'sequenceMean') ? { membership: { data: membership, dims: [3, COUNT] } } : {}),
    });
    return { loss: results['loss']![0]!, ratio: results['ratio']![0]!, gradient: results['gradient']! };
  };
  return Object.assign(run, { close: () => session.close() });
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** `frozen`: the value of logprob inside stopGradient and comparisons. */
function evaluate(e: LossExpression, logprobs: readonly number[], frozen: readonly number[]): number[] {
  const at = (x: LossExpression, values = logprobs) => evaluate(x, values, frozen);
  const zip = (x: LossExpression, y: LossExpression, f: (a: number, b: number) => number, values = logprobs) => {
    const ys = at(y, values);
    return at(x, values).map((a, i) => f(a, ys[i]!));
  };
  switch (e.op) {
    case 'logprob':
      return [...logprobs];
    case 'entropy':
      return VALUES.entropy;
    case 'input':
      return VALUES.inputs[e.name as keyof typeof VALUES.inputs];
    case 'constant':
      return Array.from({ length: COUNT }, () => e.value);
    case 'neg':
      return at(e.x).map((x) => -x);
    case 'exp':
      return at(e.x).map(Math.exp);
    case 'sqrt':
      return at(e.x).map(Math.sqrt);
    case 'stopGradient':
      return at(e.x, frozen);
    case 'isNaN':
      return at(e.x, frozen).map((x) => (Number.isNaN(x) ? 1 : 0));
    case 'add':
      return zip(e.x, e.y, (a, b) => a + b);
    case 'sub':
      return zip(e.x, e.y, (a, b) => a - b);
    case 'mul':
      return zip(e.x, e.y, (a, b) => a * b);
    case 'div':
      return zip(e.x, e.y, (a, b) => a / b);
    case 'min':
      return zip(e.x, e.y, Math.min);
    case 'max':
      return zip(e.x, e.y, Math.max);
    case 'less':
      return zip(e.x, e.y, (a, b) => (a < b ? 1 : 0), frozen);
    case 'where': {
      const condition = at(e.condition, frozen);
      return zip(e.x, e.y, () => 0).map((_, i) => (condition[i] === 1 ? at(e.x)[i]! : at(e.y)[i]!));
    }
    case 'mean':
      return at(e.x).map((_, __, xs) => sum(xs) / xs.length);
    case 'largest':
      return at(e.x, frozen).map((_, __, xs) => Math.max(...xs));
    case 'smallest':
      return at(e.x, frozen).map((_, __, xs) => Math.min(...xs));
    case 'sequenceMean': {
      const x = at(e.x);
      return VALUES.sequences.map((own) => {
        const members = x.filter((_, i) => VALUES.sequences[i] === own);
        return sum(members) / members.length;
      });
    }
  }
}
