// Losses, each written once as data: engines lower them into graphs, loss-reference.ts evaluates them in plain TypeScript.
// Inputs per trained token, log-probabilities in nats, NaN where there is none: advantages, weights, oldLogprobs (what the
// ratio divides by); sampledLogprobs (the client's, where old ones were computed again); referenceLogprobs (the KL anchor's).
import type { LossExpression, LossProgram } from '#engine/loss-program';
import {
  add,
  constant,
  div,
  exp,
  input,
  isNaN,
  largest,
  less,
  logprob,
  max,
  mean,
  min,
  mul,
  neg,
  sequenceMean,
  smallest,
  sqrt,
  stopGradient,
  sub,
  where,
} from './loss-expressions.ts';
import type { ImportanceSamplingLevel, PolicyLossConfig } from './rl-config.ts';

const weights = input('weights');

/** If the old log-probability is unknown, the token counts as on-policy: uses the other policy's, held constant. */
const orCurrent = (known: LossExpression, current: LossExpression = logprob): LossExpression =>
  where(isNaN(known), stopGradient(current), known);

/**
 * CISPO (arXiv:2506.13585 eq. 4): −sg(clip(r)) · A · log π, every token keeps its gradient; or PPO's clipped surrogate
 * (arXiv:1707.06347 eq. 7): −min(r · A, clip(r) · A). Summed with the tokens' weights over the trained tokens of the row,
 * divided by their number. In the order of the reference trainer (ART): the ratio is raised to its level, capped, masked;
 * advantages are shaped; the loss is truncated by another ratio.
 */
export function policyLoss(config: PolicyLossConfig): LossProgram {
  const { kind, epsilon, epsilonHigh, ratioMax, masksRatio, truncation } = config;
  const [low, high] = [constant(1 - epsilon), constant(1 + epsilonHigh)];
  const old = orCurrent(input('oldLogprobs'));
  const difference = sub(logprob, old);
  const leveled = ratioAt(config.importanceSampling, difference);
  const capped = ratioMax === null ? leveled : min(leveled, constant(ratioMax));
  const inside = mul(less(low, capped), less(capped, high));
  const ratio = masksRatio ? where(inside, capped, constant(0)) : capped;
  const bounded = min(max(ratio, low), high);

  const { advantages, divergence } = shapedAdvantages(config, difference);
  const objective =
    kind === 'ppo'
      ? min(mul(ratio, advantages), mul(bounded, advantages))
      : mul(mul(stopGradient(bounded), advantages), logprob);
  const truncated =
    truncation === null
      ? objective
      : mul(objective, stopGradient(min(truncationRatio(config, ratio), constant(truncation))));
  const perToken = neg(mul(truncated, weights));

  const drift = sub(logprob, orCurrent(sampledLogprobs(config)));
  return {
    name: kind,
    perToken,
    metrics: {
      policy_loss: perToken,
      entropy: mul({ op: 'entropy' }, weights),
      ratio_mean: leveled,
      ratio_min: smallest(leveled),
      ratio_max: largest(leveled),
      clipped_fraction: add(less(leveled, low), less(high, leveled)),
      // k3 of Schulman's "Approximating KL Divergence": sampling policy against the current one, never negative
      kl_div: sub(sub(exp(drift), constant(1)), drift),
      logprob_difference: max(drift, neg(drift)),
      ...(divergence ? { kl_policy_ref: divergence } : {}),
    },
  };
}

/** The sampler's log-probabilities, whatever the ratio divides by. */
const sampledLogprobs = ({ precalculates }: PolicyLossConfig): LossExpression =>
  input(precalculates ? 'sampledLogprobs' : 'oldLogprobs');

/**
 * As in the reference trainer: e²⁰ is beyond every clip, and a float stays finite. A log-probability of −9999, as vLLM writes one that is not
 * finite, would make the gradient of the whole row NaN.
 */
const LOG_RATIO_MAX = 20;

const expBounded = (logRatio: LossExpression): LossExpression =>
  exp(min(max(logRatio, constant(-LOG_RATIO_MAX)), constant(LOG_RATIO_MAX)));

/** π / π_old per token, or its geometric mean over the tokens of a sequence (GSPO, arXiv:2507.18071 eq. 7), or between. */
function ratioAt(level: ImportanceSamplingLevel, difference: LossExpression): LossExpression {
  const token = expBounded(difference);
  const sequence = expBounded(sequenceMean(difference));
  switch (level) {
    case 'token':
      return token;
    case 'sequence':
      return sequence;
    case 'average':
      return div(add(token, sequence), constant(2));
    case 'geometric_average':
      return sqrt(mul(token, sequence));
  }
}

/**
 * A − τ · sg(d) (Kimi K2, arXiv:2507.20534 §3.2.2, as the reference trainer applies it), then A + κ · (mean(k) − k) with
 * k = sg(policy − reference) in nats: tokens that moved further from the reference than the mean of their row get less advantage.
 */
function shapedAdvantages(config: PolicyLossConfig, difference: LossExpression) {
  const { tau, kl } = config;
  let advantages = input('advantages');
  if (tau !== 0) advantages = sub(advantages, mul(constant(tau), stopGradient(difference)));
  if (kl === null) return { advantages, divergence: null };
  const policy = kl.source === 'sample' ? orCurrent(sampledLogprobs(config)) : logprob;
  const divergence = stopGradient(sub(policy, input('referenceLogprobs')));
  if (kl.coefficient !== 0) {
    advantages = add(advantages, mul(constant(kl.coefficient), sub(mean(divergence), divergence)));
  }
  return { advantages, divergence };
}

/** π_old / π_sampled if old log-probabilities were recomputed, otherwise the ratio of the loss. */
function truncationRatio({ precalculates }: PolicyLossConfig, ratio: LossExpression): LossExpression {
  if (!precalculates) return ratio;
  const old = orCurrent(input('oldLogprobs'));
  return exp(sub(old, orCurrent(input('sampledLogprobs'), old)));
}

/** Σ −log π, weighted: a token's gradient depends only on its own weight, not on the rest of its row. */
export const crossEntropyLoss: LossProgram = {
  name: 'cross-entropy',
  perToken: neg(mul(logprob, weights)),
  denominator: 'one',
  metrics: {},
};
