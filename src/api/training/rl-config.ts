// experimental_config of an RL job → RlConfigInput. Clients send every key they know, with null for "use the default"; keys with the
// same meaning must agree. Unknown keys are listed in the warnings.
import { z } from 'zod';
import type { KlReference, RlConfigInput } from '#domain/trajectory';
import { boolean, integer, number } from '#validation/lax';
import { unknownFields } from '#validation/unknown-fields';
import type { Complaint } from '#validation/parse';

const PACKED_LENGTH_MAX = 1_048_576; // the engine's own limit is lower; this is only a sanity check

const off = 'null or 0: off';

const wireConfig = z.looseObject({
  learning_rate: number({ ge: 0, le: 1 })
    .nullish()
    .describe('Learning rate. Default: 0.3 divided by the hidden size of the base model.'),
  ppo: boolean().nullish().describe("Use PPO's clipped surrogate loss instead of CISPO. Default false."),
  loss_fn: z.enum(['cispo', 'ppo']).nullish().describe('The loss, as an alternative to `ppo`.'),
  epsilon: number({ ge: 0 }).nullish().describe('Ratios are clipped at 1 − epsilon. Default 1 (CISPO), 0.2 (PPO).'),
  epsilon_high: number({ ge: 0 })
    .nullish()
    .describe('Ratios are clipped at 1 + epsilon_high. Default 4 (CISPO), epsilon (PPO).'),
  importance_sampling_level: z
    .enum(['token', 'sequence', 'average', 'geometric_average'])
    .nullish()
    .describe('Default token.'),
  mask_prob_ratio: boolean().nullish().describe('Tokens whose ratio is outside the clip range count as ratio 0.'),
  max_negative_advantage_importance_sampling_weight: number({ ge: 0 })
    .nullish()
    .describe(`Upper bound of every ratio, whatever the sign of the advantage; ${off}.`),
  truncated_importance_sampling: number({ ge: 0 })
    .nullish()
    .describe(
      `Upper bound of a further importance weight; 0 is off. Default: off, and 2 where the sampler’s log-probabilities differ from the trainer’s by construction (8 bits, workers).`,
    ),
  kimi_k2_tau: number({ ge: 0 }).nullish().describe(`Advantages minus tau × log ratio; ${off}.`),
  vendor_k2_tau: number({ ge: 0 }).nullish().describe('Alias of kimi_k2_tau.'),
  advantage_balance: number({ ge: -1, le: 1 })
    .nullish()
    .describe('1 trains only on positive advantages, −1 only on negative ones. Default 0.'),
  scale_rewards: boolean().nullish().describe("Divide advantages by their group's standard deviation. Default true."),
  normalize_advantages: boolean().nullish().describe('Alias of scale_rewards.'),
  precalculate_logprobs: boolean()
    .nullish()
    .describe(
      'Compute ratios against the policy at the start of the job instead of the sampling policy. Default: as truncated_importance_sampling, where that has a default.',
    ),
  allow_training_without_logprobs: boolean()
    .nullish()
    .describe(
      'Also train on assistant turns that were sent without tokens; they are tokenized with the chat template.',
    ),
  kl_penalty_coef: number({ ge: 0 })
    .nullish()
    .describe(`Advantages shaped by the divergence from a reference policy; ${off}.`),
  kl_penalty_source: z
    .enum(['current_learner', 'sample'])
    .nullish()
    .describe(
      'The policy that is compared with the reference. Default sample with a coefficient, else current_learner.',
    ),
  kl_penalty_reference_step: integer({ ge: 0 })
    .nullish()
    .describe('Use this step of the model as the reference. Default: the base model.'),
  kl_penalty_step_lag: integer({ ge: 0 })
    .nullish()
    .describe('Use the checkpoint this many steps before the current one as the reference.'),
  kl_ref_adapter_path: z
    .string()
    .min(1)
    .nullish()
    .describe('Use another checkpoint as the reference, named as in chat requests (`entity/project/name@N`).'),
  num_trajectories_learning_rate_multiplier_power: number({ ge: -4, le: 4 })
    .nullish()
    .describe('Multiply the learning rate by (sequences in the row) to this power. Default 0.'),
  scale_learning_rate_by_reward_std_dev: boolean()
    .nullish()
    .describe("Multiply the learning rate by the trend of train/reward_std_dev over the model's checkpoints."),
  packed_sequence_length: integer({ ge: 1, le: PACKED_LENGTH_MAX })
    .nullish()
    .describe(
      'Number of tokens that a row is filled up to. Default: 2048. Rows are longer if a sequence is longer, and shorter if memory is low; the first event reports it.',
    ),
  logprob_calculation_chunk_size: integer({ ge: 1, le: PACKED_LENGTH_MAX })
    .nullish()
    .describe('Maximum number of trained tokens whose logits are in memory at the same time.'),
  max_staleness: integer({ ge: 0 })
    .nullish()
    .describe(
      'Trajectories with tokens that were sampled more than this many steps before the step that the job starts from are skipped as `stale`. 0: only the current policy. Default null: no bound.',
    ),
  plot_tensors: boolean().nullish().describe('Accepted, but no plots are drawn.'),
});

const NO_PLOTS = 'experimental_config.plot_tensors was not used: this server draws no plots.';

type Wire = z.output<typeof wireConfig>;

/** The settings, and those that are not used. */
export interface ReadRlConfig {
  readonly config: RlConfigInput;
  readonly warnings: readonly string[];
}

export const rlConfig = wireConfig.transform((wire, ctx): ReadRlConfig => {
  const agree = agreement(ctx);
  const lossIsPpo = wire.loss_fn ? wire.loss_fn === 'ppo' : null;
  const ppo = agree({ ppo: wire.ppo, loss_fn: lossIsPpo });
  const scaleRewards = agree({ scale_rewards: wire.scale_rewards, normalize_advantages: wire.normalize_advantages });
  const tau = agree({ vendor_k2_tau: wire.vendor_k2_tau, kimi_k2_tau: wire.kimi_k2_tau });
  const config = dropNulls({
    learningRate: wire.learning_rate,
    scaleRewards,
    advantageBalance: wire.advantage_balance,
    ppo,
    epsilon: wire.epsilon,
    epsilonHigh: wire.epsilon_high,
    packedSequenceLength: wire.packed_sequence_length,
    importanceSamplingLevel: wire.importance_sampling_level,
    maskProbRatio: wire.mask_prob_ratio,
    ratioMax: wire.max_negative_advantage_importance_sampling_weight,
    tau,
    truncatedImportanceSampling: wire.truncated_importance_sampling,
    precalculateLogprobs: wire.precalculate_logprobs,
    allowTrainingWithoutLogprobs: wire.allow_training_without_logprobs,
    klPenaltyCoefficient: wire.kl_penalty_coef,
    klPenaltySource: wire.kl_penalty_source,
    klReference: klReference(wire, ctx),
    sequenceCountPower: wire.num_trajectories_learning_rate_multiplier_power,
    scaleLearningRateByRewardStdDev: wire.scale_learning_rate_by_reward_std_dev,
    logprobChunkSize: wire.logprob_calculation_chunk_size,
    maxStaleness: wire.max_staleness,
  });
  const unknown = unknownFields(wireConfig, wire, 'experimental_config.');
  return { config, warnings: wire.plot_tensors ? [...unknown, NO_PLOTS] : unknown };
});

/** Aliases of one setting: all values that are sent and not null must be equal. */
const agreement =
  (ctx: z.core.$RefinementCtx) =>
  <T>(named: Readonly<Record<string, T | null | undefined>>): T | null => {
    const sent = Object.entries(named).filter(([, value]) => value !== null && value !== undefined);
    const other = sent.find(([, value]) => value !== sent[0]![1]);
    if (other)
      complain(ctx, other[0], `${other[0]} contradicts ${sent[0]![0]} ${String(sent[0]![1])}. Send one of them.`);
    return sent[0]?.[1] ?? null;
  };

function klReference(wire: Wire, ctx: z.core.$RefinementCtx): KlReference | null {
  const { kl_penalty_reference_step: step, kl_penalty_step_lag: stepLag, kl_ref_adapter_path: checkpointName } = wire;
  const named = Object.entries({
    kl_penalty_reference_step: step,
    kl_penalty_step_lag: stepLag,
    kl_ref_adapter_path: checkpointName,
  }).flatMap(([name, value]) => ((value ?? null) === null ? [] : [name]));
  if (named.length > 1) complain(ctx, named[1]!, `${named.join(' and ')} name different references. Send one of them.`);
  if (typeof step === 'number') return { step };
  if (typeof stepLag === 'number') return { stepLag };
  return checkpointName ? { checkpointName } : null;
}

function complain(ctx: z.core.$RefinementCtx, field: string, msg: string): void {
  const complaint: Complaint = { type: 'value_error', msg: `Value error, ${msg}`, ctx: { error: {} } };
  ctx.addIssue({ code: 'custom', path: [field], message: complaint.msg, params: { complaint } });
}

type Nullable<T> = { [K in keyof T]: T[K] | null | undefined };

const dropNulls = (config: Nullable<Required<RlConfigInput>>): RlConfigInput =>
  Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null && value !== undefined));
