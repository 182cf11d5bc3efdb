// Losses, each written once as data: engines lower them into graphs, loss-reference.ts evaluates them in plain TypeScript.
// Inputs per trained token: oldLogprobs (nats, NaN where the client has none), advantages, weights.
import type { LossExpression, LossProgram } from '#engine/loss-program';
import type { PolicyLossConfig } from './rl-config.ts';

const logprob: LossExpression = { op: 'logprob' };
const advantages: LossExpression = { op: 'input', name: 'advantages' };
const weights: LossExpression = { op: 'input', name: 'weights' };
const sampled: LossExpression = { op: 'input', name: 'oldLogprobs' };

const constant = (value: number): LossExpression => ({ op: 'constant', value });
const neg = (x: LossExpression): LossExpression => ({ op: 'neg', x });
const exp = (x: LossExpression): LossExpression => ({ op: 'exp', x });
const stopGradient = (x: LossExpression): LossExpression => ({ op: 'stopGradient', x });
const binary =
  (op: 'add' | 'sub' | 'mul' | 'min' | 'max' | 'less') =>
  (x: LossExpression, y: LossExpression): LossExpression => ({ op, x, y });
const [add, sub, mul, min, max, less] = (['add', 'sub', 'mul', 'min', 'max', 'less'] as const).map(binary) as [
  Binary,
  Binary,
  Binary,
  Binary,
  Binary,
  Binary,
];
type Binary = ReturnType<typeof binary>;

/** A token without a sampling logprob counts as on-policy: ratio 1. */
const oldLogprob: LossExpression = {
  op: 'where',
  condition: { op: 'isNaN', x: sampled },
  x: stopGradient(logprob),
  y: sampled,
};

/**
 * CISPO (arXiv:2506.13585 eq. 4): −sg(clip(r)) · A · log π, every token keeps its gradient; or PPO's clipped surrogate
 * (arXiv:1707.06347 eq. 7): −min(r · A, clip(r) · A). r = π / π_old per token. Summed with the tokens' weights over the
 * trained tokens of the row, divided by their number.
 */
export function policyLoss({ kind, epsilon, epsilonHigh }: PolicyLossConfig): LossProgram {
  const difference = sub(logprob, oldLogprob);
  const ratio = exp(difference);
  const [low, high] = [constant(1 - epsilon), constant(1 + epsilonHigh)];
  const bounded = min(max(ratio, low), high);
  const objective =
    kind === 'ppo'
      ? min(mul(ratio, advantages), mul(bounded, advantages))
      : mul(mul(stopGradient(bounded), advantages), logprob);
  const perToken = neg(mul(objective, weights));
  return {
    name: kind,
    perToken,
    metrics: {
      policy_loss: perToken,
      entropy: mul({ op: 'entropy' }, weights),
      ratio_mean: ratio,
      clipped_fraction: add(less(ratio, low), less(high, ratio)),
      // k3 of Schulman's "Approximating KL Divergence": sampling policy against the current one, never negative
      kl_div: sub(sub(ratio, constant(1)), difference),
      logprob_difference: max(difference, neg(difference)),
    },
  };
}

/** −log π, weighted. */
export const crossEntropyLoss: LossProgram = {
  name: 'cross-entropy',
  perToken: neg(mul(logprob, weights)),
  metrics: {},
};
