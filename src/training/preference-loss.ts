// The losses of TRL's DPOTrainer with their derivatives: how much a policy prefers the chosen answer of each pair to the rejected one,
// compared with the job's starting policy. Works on numbers; knows no tokens.
import type { PreferenceLossType } from '#domain/dpo';

export interface PreferenceLossConfig {
  readonly type: PreferenceLossType;
  /** How strongly the policy is held to its reference: larger is closer. */
  readonly beta: number;
  /** Assumed fraction of pairs with a wrong label, 0 ≤ ε < 0.5 (sigmoid, robust). */
  readonly labelSmoothing: number;
}

/** `[sequence]` each: chosen and rejected answers of the pairs alternate. */
export interface ScoredAnswers {
  /** Σ log π over the tokens of the answer, nats. */
  readonly scores: Float64Array;
  /** Tokens of the answer. */
  readonly lengths: Uint32Array;
}

export interface ComparedPairs {
  /** Mean over the pairs. */
  readonly loss: number;
  /** `[sequence]` ∂loss/∂score. */
  readonly slopes: Float64Array;
  /** Means over the pairs, under TRL's names. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** `reference`: scores under the job's starting policy. Without pairs everything is NaN. */
export function comparePairs(
  { scores, lengths }: ScoredAnswers,
  reference: Float64Array,
  config: PreferenceLossConfig,
): ComparedPairs {
  const { beta, type } = config;
  const pairs = scores.length / 2;
  const slopes = new Float64Array(scores.length);
  const sums = { loss: 0, chosen: 0, rejected: 0, accuracy: 0, chosenScore: 0, rejectedScore: 0 };
  for (let chosen = 0; chosen < scores.length; chosen += 2) {
    const rejected = chosen + 1;
    const [gained, lost] = [scores[chosen]! - reference[chosen]!, scores[rejected]! - reference[rejected]!];
    // IPO compares means over tokens, because with sums long answers would dominate. This is not in the paper; TRL had it from its authors.
    const per = type === 'ipo' ? [lengths[chosen]!, lengths[rejected]!] : [1, 1];
    const { loss, slope } = preferenceLoss(gained / per[0]! - lost / per[1]!, config);
    slopes[chosen] = slope / per[0]! / pairs;
    slopes[rejected] = -slope / per[1]! / pairs;
    sums.loss += loss;
    sums.chosen += beta * gained;
    sums.rejected += beta * lost;
    sums.accuracy += gained > lost ? 1 : 0;
    sums.chosenScore += scores[chosen]!;
    sums.rejectedScore += scores[rejected]!;
  }
  const metrics = {
    'rewards/chosen': sums.chosen / pairs,
    'rewards/rejected': sums.rejected / pairs,
    'rewards/margins': (sums.chosen - sums.rejected) / pairs,
    'rewards/accuracies': sums.accuracy / pairs,
    'logps/chosen': sums.chosenScore / pairs,
    'logps/rejected': sums.rejectedScore / pairs,
  };
  return { loss: sums.loss / pairs, slopes, metrics };
}

/**
 * A function of h, the log-ratio of the chosen answer minus that of the rejected one, with its derivative. σ: the logistic function, ε: labelSmoothing.
 * sigmoid: −(1 − ε) log σ(βh) − ε log σ(−βh): DPO (arXiv:2305.18290 eq. 7); with ε its conservative form (E. Mitchell, "A note on DPO
 * with noisy preferences", 2023). robust: the same with −ε, over 1 − 2ε (arXiv:2403.00409 eq. 12). hinge: max(0, 1 − βh)
 * (arXiv:2305.10425). ipo: (h − 1/2β)² (arXiv:2310.12036 eq. 17).
 */
export function preferenceLoss(
  h: number,
  { type, beta, labelSmoothing }: PreferenceLossConfig,
): { loss: number; slope: number } {
  switch (type) {
    case 'sigmoid':
      return logistic(beta, h, 1 - labelSmoothing, labelSmoothing);
    case 'robust': {
      const scale = 1 - 2 * labelSmoothing;
      return logistic(beta, h, (1 - labelSmoothing) / scale, -labelSmoothing / scale);
    }
    case 'hinge':
      return { loss: Math.max(0, 1 - beta * h), slope: beta * h < 1 ? -beta : 0 };
    case 'ipo': {
      const distance = h - 1 / (2 * beta);
      return { loss: distance * distance, slope: 2 * distance };
    }
  }
}

/** −right · log σ(βh) − wrong · log σ(−βh). */
function logistic(beta: number, h: number, right: number, wrong: number): { loss: number; slope: number } {
  const x = beta * h;
  const probability = 1 / (1 + Math.exp(-x));
  return {
    loss: right * softplus(-x) + wrong * softplus(x),
    slope: beta * (wrong * probability - right * (1 - probability)),
  };
}

/** log(1 + exp x), where exp x overflows too. */
const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
