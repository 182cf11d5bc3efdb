// The losses of the Tinker protocol, by the names and settings of its documentation, as data. All are plain sums over tokens: the client
// normalises through its weights and advantages. Inputs per token have the protocol's names, except that `old` is the client's
// `logprobs`. Thresholds are bounds on the ratio itself.
import { AppError } from '#domain/errors';
import { TINKER_LOSSES, type TinkerLossName } from '#domain/tinker';
import type { LossExpression, LossProgram } from '#engine/loss-program';
import {
  constant,
  div,
  exp,
  input,
  less,
  logprob,
  max,
  min,
  mul,
  neg,
  sequenceMean,
  stopGradient,
  sub,
  where,
} from './loss-expressions.ts';

export type TinkerLossConfig = Readonly<Record<string, number | string>>;

export interface TinkerLoss {
  readonly program: LossProgram;
  /** Inputs per token, in addition to the targets. */
  readonly inputs: readonly TinkerLossInput[];
}

export type TinkerLossInput = 'weights' | 'logprobs' | 'advantages' | 'sequence_ratio_mask';

const advantages = input('advantages');
const ratio = exp(sub(logprob, input('logprobs')));
const OF_POLICY = ['logprobs', 'advantages'] as const;

interface Written {
  readonly inputs: readonly TinkerLossInput[];
  /** Setting → default; null: required. */
  readonly settings: Readonly<Record<string, number | null>>;
  /** The objective to maximise. */
  readonly objective: (settings: Readonly<Record<string, number>>) => LossExpression;
}

const CLIPS = { clip_low_threshold: 0.8, clip_high_threshold: 1.2 };
const clip = (x: LossExpression, { clip_low_threshold: low, clip_high_threshold: high }: Record<string, number>) =>
  min(max(x, constant(low!)), constant(high!));

/**
 * GSPO's ratio per token (arXiv:2507.18071 eq. 12): its value is the sequence's, the geometric mean over the tokens that the mask
 * selects, and its gradient the token's own. A sequence without such tokens counts as on-policy.
 */
function sequenceRatio(): LossExpression {
  const mask = input('sequence_ratio_mask');
  const share = sequenceMean(mask);
  const drift = sequenceMean(mul(mask, stopGradient(sub(logprob, input('logprobs')))));
  const isThere = less(constant(0), share);
  const mean = where(isThere, div(drift, where(isThere, share, constant(1))), constant(0));
  return exp(sub(stopGradient(mean), sub(stopGradient(logprob), logprob)));
}

const LOSSES: Readonly<Record<TinkerLossName, Written>> = {
  cross_entropy: { inputs: ['weights'], settings: {}, objective: () => mul(input('weights'), logprob) },
  importance_sampling: { inputs: OF_POLICY, settings: {}, objective: () => mul(ratio, advantages) },
  // arXiv:1707.06347 eq. 7
  ppo: {
    inputs: OF_POLICY,
    settings: CLIPS,
    objective: (settings) => min(mul(ratio, advantages), mul(clip(ratio, settings), advantages)),
  },
  // arXiv:2506.13585 eq. 4
  cispo: {
    inputs: OF_POLICY,
    settings: { clip_low_threshold: 0, clip_high_threshold: 4 },
    objective: (settings) => mul(mul(stopGradient(clip(ratio, settings)), logprob), advantages),
  },
  // arXiv:2405.19107
  dro: {
    inputs: OF_POLICY,
    settings: { beta: null },
    objective: ({ beta }) => {
      const drift = sub(logprob, input('logprobs'));
      return sub(mul(logprob, advantages), mul(constant(0.5 * beta!), mul(drift, drift)));
    },
  },
  gspo: {
    inputs: [...OF_POLICY, 'sequence_ratio_mask'],
    settings: CLIPS,
    objective(settings) {
      const sequence = sequenceRatio();
      return min(mul(sequence, advantages), mul(clip(sequence, settings), advantages));
    },
  },
};

/** Losses whose formula is not published, or which the client computes itself. */
const REFUSED: Readonly<Record<string, string>> = {
  stable_reinforce: 'its formula is not published',
  custom: 'losses of your own run in the client: call forward_backward_custom',
};

/** Throws `invalid_request`. */
export function tinkerLoss(name: string, config: TinkerLossConfig): TinkerLoss {
  const written = Object.hasOwn(LOSSES, name) ? LOSSES[name as TinkerLossName] : undefined;
  if (!written) {
    const why = Object.hasOwn(REFUSED, name) ? `: ${REFUSED[name]}` : '';
    throw refuse(`loss_fn \`${name.slice(0, 100)}\` is not supported${why}. Use one of ${TINKER_LOSSES.join(', ')}.`);
  }
  const settings = readSettings(name, written, config);
  const perToken = neg(written.objective(settings));
  const values = Object.values(settings).join('/');
  return {
    program: { name: `tinker/${name}/${values}`, perToken, denominator: 'one', metrics: {} },
    inputs: written.inputs,
  };
}

function readSettings(name: string, { settings }: Written, config: TinkerLossConfig): Record<string, number> {
  const unknown = Object.keys(config).find((key) => !Object.hasOwn(settings, key));
  if (unknown !== undefined) throw refuse(`loss_fn_config of ${name} has no \`${unknown.slice(0, 100)}\`.`);
  const entries = Object.entries(settings).map(([key, byDefault]) => {
    const value = config[key] ?? byDefault;
    if (value === null) throw refuse(`loss_fn_config of ${name} needs \`${key}\`: there is no documented default.`);
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw refuse(`loss_fn_config.${key} must be a finite number.`);
    return [key, value] as const;
  });
  return Object.fromEntries(entries);
}

const refuse = (message: string): AppError => new AppError('invalid_request', message, { param: 'loss_fn' });
