// The losses of the plain evaluator compared with formulas written by hand, and its derivatives with finite differences.
import { expect, test } from 'vitest';
import { evaluateLoss, type TokenInputs } from './loss-reference.ts';
import { crossEntropyLoss, policyLoss } from './losses.ts';
import { resolveRlConfig, type PolicyLossConfig } from './rl-config.ts';

const lossConfig = (change: Partial<PolicyLossConfig>): PolicyLossConfig => ({
  ...resolveRlConfig({}).loss,
  ...change,
});

const logprobs = [-1.2, -0.3, -2.5, -0.7];
const oldLogprobs = [-1.0, -2.3, NaN, -0.65];
const advantages = [1, 1, -2, -0.5];
const weights = [1, 0.5, 2, 1];
const tokens: TokenInputs = {
  logprobs,
  entropies: [1, 2, 3, 4],
  sequenceIds: [0, 0, 1, 1],
  inputs: { oldLogprobs, advantages, weights },
};
/** A token without a known logprob counts as on-policy. */
const ratios = logprobs.map((logprob, i) => (Number.isNaN(oldLogprobs[i]) ? 1 : Math.exp(logprob - oldLogprobs[i]!)));
const clip = (x: number, low: number, high: number) => Math.min(Math.max(x, low), high);
const mean = (xs: readonly number[]) => xs.reduce((a, b) => a + b, 0) / xs.length;

test('CISPO: minus the clipped ratio, held constant, times advantage times logprob', () => {
  const { loss, gradient } = evaluateLoss(
    policyLoss(lossConfig({ kind: 'cispo', epsilon: 1, epsilonHigh: 4 })),
    tokens,
  );
  const clipped = ratios.map((ratio) => clip(ratio, 0, 5));
  expect(clipped[1]).toBe(5); // e² is beyond 1 + 4
  expect(loss).toBeCloseTo(mean(clipped.map((r, i) => -r * advantages[i]! * logprobs[i]! * weights[i]!)), 12);
  clipped.forEach((r, i) => expect(gradient[i]).toBeCloseTo((-r * advantages[i]! * weights[i]!) / 4, 12));
});

test('PPO: the worse of the plain and the clipped ratio; no gradient where the clip decides', () => {
  const { loss, gradient, metrics } = evaluateLoss(
    policyLoss(lossConfig({ kind: 'ppo', epsilon: 0.2, epsilonHigh: 0.2 })),
    tokens,
  );
  const perToken = ratios.map(
    (r, i) => -Math.min(r * advantages[i]!, clip(r, 0.8, 1.2) * advantages[i]!) * weights[i]!,
  );
  expect(loss).toBeCloseTo(mean(perToken), 12);
  expect(gradient[1]).toBe(0); // ratio e², advantage 1: clipped
  expect(gradient[3]).toBeCloseTo((-ratios[3]! * advantages[3]! * weights[3]!) / 4, 12);
  expect(metrics['clipped_fraction']).toBe(1 / 4); // e^−0.2 is just inside
});

test.each(['token', 'sequence', 'average', 'geometric_average'] as const)(
  'a log-probability of -9999 leaves the loss and its gradient finite, with ratios by %s',
  (importanceSampling) => {
    const far = { ...tokens, inputs: { ...tokens.inputs, oldLogprobs: [-1, -2.3, NaN, -9999] } };
    for (const kind of ['cispo', 'ppo'] as const) {
      const config = lossConfig({ ...resolveRlConfig({ ppo: kind === 'ppo' }).loss, importanceSampling });
      const { loss, gradient, metrics } = evaluateLoss(policyLoss(config), far);
      expect([loss, ...gradient, metrics['ratio_max']!].every(Number.isFinite)).toBe(true);
    }
  },
);

test('metrics are plain means over the trained tokens', () => {
  const { metrics } = evaluateLoss(policyLoss(lossConfig({ kind: 'cispo', epsilon: 1, epsilonHigh: 4 })), tokens);
  const differences = ratios.map(Math.log);
  expect(metrics['ratio_mean']).toBeCloseTo(mean(ratios), 12);
  expect(metrics['kl_div']).toBeCloseTo(mean(ratios.map((r, i) => r - 1 - differences[i]!)), 12);
  expect(metrics['logprob_difference']).toBeCloseTo(mean(differences.map(Math.abs)), 12);
  expect(metrics['entropy']).toBeCloseTo(mean([1, 1, 6, 4]), 12);
});

test('cross-entropy is the sum of weighted negative log-probabilities', () => {
  const sum = logprobs.reduce((all, l, i) => all - l * weights[i]!, 0);
  expect(evaluateLoss(crossEntropyLoss, tokens).loss).toBeCloseTo(sum, 12);
});

test.each([
  ['ppo', policyLoss(lossConfig({ kind: 'ppo', epsilon: 0.2, epsilonHigh: 0.3 }))],
  ['cross-entropy', crossEntropyLoss],
])('the slopes of %s equal finite differences', (_, program) => {
  const { gradient } = evaluateLoss(program, tokens);
  const h = 1e-6;
  const at = (token: number, shift: number) =>
    evaluateLoss(program, { ...tokens, logprobs: logprobs.map((l, i) => (i === token ? l + shift : l)) }).loss;
  // Token 2 has no old logprob: its ratio is 1 by definition, with a derivative that finite differences of the value cannot show.
  for (const token of program === crossEntropyLoss ? [0, 1, 2, 3] : [0, 1, 3]) {
    expect(gradient[token]).toBeCloseTo((at(token, h) - at(token, -h)) / (2 * h), 6);
  }
});
