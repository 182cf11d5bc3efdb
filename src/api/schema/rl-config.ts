// experimental_config of an RL job → RlConfigInput. Clients send every key they know, null for "use the default". A key
// that would change the training and is not implemented is refused, unless its value changes nothing.
import { z } from 'zod';
import type { RlConfigInput } from '#domain/trajectory';
import { boolean, integer, number } from './lax.ts';
import type { Complaint } from './validation.ts';

const PACKED_LENGTH_MAX = 1_048_576; // the engine's own limit is lower; this only keeps nonsense out

const wireConfig = z.looseObject({
  learning_rate: number({ gt: 0 }).nullish(),
  scale_rewards: boolean().nullish(),
  normalize_advantages: boolean().nullish().meta({ description: 'Alias of scale_rewards.' }),
  advantage_balance: number({ ge: -1, le: 1 }).nullish(),
  ppo: boolean().nullish(),
  loss_fn: z.enum(['cispo', 'ppo']).nullish().meta({ description: 'The same choice as `ppo`.' }),
  epsilon: number({ ge: 0 }).nullish(),
  epsilon_high: number({ ge: 0 }).nullish(),
  packed_sequence_length: integer({ ge: 1, le: PACKED_LENGTH_MAX }).nullish(),
}); // prettier-ignore

type HasNoEffect = (value: unknown) => boolean;
const is =
  (...values: readonly unknown[]): HasNoEffect =>
  (value) =>
    values.includes(value);
const always: HasNoEffect = () => true;

/** Known to clients, not implemented: name → does this value train as if it were not there? */
const NOT_SUPPORTED: Readonly<Record<string, HasNoEffect>> = {
  importance_sampling_level: is('token'),
  mask_prob_ratio: is(false),
  precalculate_logprobs: is(false),
  max_negative_advantage_importance_sampling_weight: is(0),
  vendor_k2_tau: is(0),
  kimi_k2_tau: is(0),
  truncated_importance_sampling: is(0),
  allow_training_without_logprobs: is(false),
  kl_penalty_coef: is(0),
  num_trajectories_learning_rate_multiplier_power: is(0),
  scale_learning_rate_by_reward_std_dev: is(false),
  plot_tensors: is(false),
  // Matter only together with kl_penalty_coef.
  kl_penalty_reference_step: always,
  kl_penalty_source: always,
  kl_penalty_step_lag: always,
  kl_ref_adapter_path: always,
  // A hint about another trainer's memory; ours does not cut this way.
  logprob_calculation_chunk_size: always,
};

export const rlConfig = wireConfig.transform((wire, ctx): RlConfigInput => {
  const complain = (field: string, msg: string) => {
    const complaint: Complaint = { type: 'value_error', msg: `Value error, ${msg}`, ctx: { error: {} } };
    ctx.addIssue({ code: 'custom', path: [field], message: complaint.msg, params: { complaint } });
  };
  for (const [field, hasNoEffect] of Object.entries(NOT_SUPPORTED)) {
    const value = wire[field];
    if (value !== undefined && value !== null && !hasNoEffect(value)) {
      complain(field, `${field} with this value is not supported yet by this server. Leave it out.`);
    }
  }
  const ppo = wire.ppo ?? null;
  const lossIsPpo = wire.loss_fn ? wire.loss_fn === 'ppo' : null;
  if (ppo !== null && lossIsPpo !== null && ppo !== lossIsPpo) {
    complain('loss_fn', `loss_fn '${wire.loss_fn}' contradicts ppo ${ppo}. Send one of them.`);
  }
  const scale = wire.scale_rewards ?? null;
  const normalize = wire.normalize_advantages ?? null;
  if (scale !== null && normalize !== null && scale !== normalize) {
    complain(
      'normalize_advantages',
      `normalize_advantages ${normalize} contradicts scale_rewards ${scale}. Send one of them.`,
    );
  }
  return dropNulls({
    learningRate: wire.learning_rate,
    scaleRewards: scale ?? normalize,
    advantageBalance: wire.advantage_balance,
    ppo: ppo ?? lossIsPpo,
    epsilon: wire.epsilon,
    epsilonHigh: wire.epsilon_high,
    packedSequenceLength: wire.packed_sequence_length,
  });
});

type Nullable<T> = { [K in keyof T]: T[K] | null | undefined };

const dropNulls = (config: Nullable<Required<RlConfigInput>>): RlConfigInput =>
  Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null && value !== undefined));
