// The settings of an RL job: what clients may choose, and what is fixed. Defaults are the reference trainer's, except for the learning
// rate. A null or missing field means its default, and so does 0 where it switches something off.
import type { RlConfigInput } from '#domain/trajectory';
import type { OptimizerParams } from '#engine/training-engine';
import { rlLearningRate } from './fitted-learning-rate.ts';

/** The usual bound of truncated importance sampling ("Your Efficient RL Framework Secretly Brings You Off-Policy RL Training", 2025). */
const TRUNCATION = 2;

export interface RlConfig {
  readonly optimizer: OptimizerParams;
  readonly loss: PolicyLossConfig;
  /** Divide advantages by the standard deviation of their group. */
  readonly scaleRewards: boolean;
  /** −1…1; 1 trains on positive advantages only, −1 on negative ones. */
  readonly advantageBalance: number;
  /** Tokens up to which a row is filled; null: see row-budget.ts. */
  readonly rowLength: number | null;
  /** Train assistant messages without known tokens too, as the chat template writes them. */
  readonly trainsUnsampled: boolean;
  /** The learning rate of a row is multiplied by its number of sequences raised to this power. */
  readonly sequenceCountPower: number;
  readonly scalesLearningRateByRewardSpread: boolean;
  /** Trained tokens whose logits are in memory at once; null: the engine's choice. */
  readonly headTokensMax: number | null;
  /** Trajectories with tokens of steps that are older than this many are not trained; null: no bound. */
  readonly maxStaleness: number | null;
}

export type ImportanceSamplingLevel = 'token' | 'sequence' | 'average' | 'geometric_average';

export interface PolicyLossConfig {
  readonly kind: 'cispo' | 'ppo';
  /** The ratio is clipped to [1 − epsilon, 1 + epsilonHigh]. */
  readonly epsilon: number;
  readonly epsilonHigh: number;
  readonly importanceSampling: ImportanceSamplingLevel;
  /** Upper bound of the ratio, whatever the sign of the advantage. Null: none. */
  readonly ratioMax: number | null;
  /** The ratio counts as 0 outside the clip range. */
  readonly masksRatio: boolean;
  /** τ of vendor_k2_tau; 0 is off. */
  readonly tau: number;
  /** Upper bound of the factor of truncated importance sampling. Null: off. */
  readonly truncation: number | null;
  /** Old log-probabilities are recomputed with the weights at the start of the job; the client's stay as `sampledLogprobs`. */
  readonly precalculates: boolean;
  /** Null: no reference policy is used. */
  readonly kl: KlConfig | null;
}

export interface KlConfig {
  /** κ ≥ 0; with 0 the divergence is only measured. */
  readonly coefficient: number;
  /** The policy that is compared with the reference. */
  readonly source: 'current_learner' | 'sample';
}

/** What of the base model and its engines decides defaults. */
export interface RlSetting {
  /** Of the base model. Absent or null: unknown. */
  readonly hiddenSize?: number | null;
  /** Sampler and trainer compute the same log-probabilities. Absent: they do. */
  readonly exactLogprobs?: boolean;
}

export function resolveRlConfig(input: RlConfigInput, setting: RlSetting = {}): RlConfig {
  const { hiddenSize = null } = setting;
  const ppo = input.ppo ?? false;
  const epsilon = input.epsilon ?? (ppo ? 0.2 : 1);
  return {
    optimizer: {
      learningRate: input.learningRate ?? rlLearningRate(hiddenSize),
      beta1: 0.9,
      beta2: 0.99,
      epsilon: 1e-8,
      weightDecay: 0.1,
      maxGradNorm: 0.1,
    },
    loss: {
      kind: ppo ? 'ppo' : 'cispo',
      epsilon,
      epsilonHigh: input.epsilonHigh ?? (ppo ? epsilon : 4),
      importanceSampling: input.importanceSamplingLevel ?? 'token',
      ratioMax: positive(input.ratioMax),
      masksRatio: input.maskProbRatio ?? false,
      tau: input.tau ?? 0,
      ...resolveCorrection(input, setting),
      kl: resolveKl(input),
    },
    scaleRewards: input.scaleRewards ?? true,
    advantageBalance: input.advantageBalance ?? 0,
    rowLength: input.packedSequenceLength ?? null,
    trainsUnsampled: input.allowTrainingWithoutLogprobs ?? false,
    sequenceCountPower: input.sequenceCountPower ?? 0,
    scalesLearningRateByRewardSpread: input.scaleLearningRateByRewardStdDev ?? false,
    headTokensMax: input.logprobChunkSize ?? null,
    maxStaleness: input.maxStaleness ?? null,
  };
}

/**
 * Truncated importance sampling is on where sampler and trainer differ by construction, unless a client chose otherwise: the trainer
 * computes the log-probabilities of the starting weights, and their ratio to the sampler's, at most TRUNCATION, weighs each token. Without
 * the former there is no such ratio, so a client that declines them gets no factor either.
 */
function resolveCorrection(
  { truncatedImportanceSampling, precalculateLogprobs }: RlConfigInput,
  { exactLogprobs = true }: RlSetting,
): Pick<PolicyLossConfig, 'truncation' | 'precalculates'> {
  const usual = !exactLogprobs && precalculateLogprobs !== false ? TRUNCATION : undefined;
  const truncation = positive(truncatedImportanceSampling ?? usual);
  return { truncation, precalculates: precalculateLogprobs ?? (!exactLogprobs && truncation !== null) };
}

function resolveKl({ klPenaltyCoefficient = 0, klPenaltySource, klReference }: RlConfigInput): KlConfig | null {
  if (klPenaltyCoefficient === 0 && klReference === undefined) return null;
  const source = klPenaltySource ?? (klPenaltyCoefficient > 0 ? 'sample' : 'current_learner');
  return { coefficient: klPenaltyCoefficient, source };
}

const positive = (value: number | undefined): number | null => (value === undefined || value === 0 ? null : value);
