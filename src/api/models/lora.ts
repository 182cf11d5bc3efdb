// `lora` of a model: the adapter settings of its checkpoints, with the field names of PEFT's LoraConfig. Wire ↔ domain. The engine knows
// which linear layers a base model has.
import { z } from 'zod';
import { DEFAULT_LORA, type LoraConfig } from '#domain/lora-config';
import { boolean, integer, list, number } from '#validation/lax';
import { unknownFields } from '#validation/unknown-fields';

/** A larger rank costs as much as training all weights of a small model. The limit of the Tinker API is lower. */
const RANK_MAX = 256;
const SEED_MAX = 2 ** 32 - 1;
const TARGETS_MAX = 32;
const ALL = 'all-linear';

/** Targets that PEFT supports and this server does not, and why. */
const REFUSED_TARGETS: Readonly<Record<string, string>> = {
  embed_tokens: 'only linear layers are adapted here, and an embedding is not one',
};

const target = z.string().superRefine((name, ctx) => {
  const reason = Object.hasOwn(REFUSED_TARGETS, name) ? REFUSED_TARGETS[name] : undefined;
  if (reason === undefined) return;
  const msg = `Value error, ${name} is not supported: ${reason}. Name linear layers of attention and MLP, \`lm_head\`, or send \`${ALL}\`.`;
  ctx.addIssue({
    code: 'custom',
    message: msg,
    params: { complaint: { type: 'value_error', msg, ctx: { error: {} } } },
  });
});

const wireLora = z.looseObject({
  r: integer({ ge: 1, le: RANK_MAX }).nullish().describe(`Rank of the adapter. Default ${DEFAULT_LORA.rank}.`),
  lora_alpha: number({ gt: 0, le: 1e6 })
    .nullish()
    .describe(
      `The output of the adapter is scaled by lora_alpha / r. Default ${DEFAULT_LORA.alpha}, regardless of the rank.`,
    ),
  target_modules: z
    .union([
      z.literal(ALL),
      list(target, TARGETS_MAX).refine((names) => names.length > 0, 'List should have at least 1 item'),
    ])
    .nullish()
    .meta({
      description: `Names of the linear layers to adapt, such as \`q_proj\` or \`lm_head\` (the output head). \`${ALL}\`, the default, selects those of attention and MLP.`,
    }),
  use_rslora: boolean()
    .nullish()
    .describe('Scale by lora_alpha / √r instead (rank-stabilized LoRA, arXiv:2312.03732). Default false.'),
  seed: integer({ ge: 0, le: SEED_MAX })
    .nullish()
    .describe(`Seed of the initial values of A; B starts at zero. Default ${DEFAULT_LORA.seed}.`),
});

/** For a new model. */
export const lora = wireLora.transform((wire): { lora: LoraConfig; warnings: readonly string[] } => ({
  warnings: unknownFields(wireLora, wire, 'lora.'),
  lora: {
    rank: wire.r ?? DEFAULT_LORA.rank,
    alpha: wire.lora_alpha ?? DEFAULT_LORA.alpha,
    rankStabilized: wire.use_rslora ?? false,
    seed: wire.seed ?? DEFAULT_LORA.seed,
    ...(Array.isArray(wire.target_modules) ? { targets: wire.target_modules } : {}),
  },
}));

/** For an existing model. */
export const loraResponse = z
  .object({
    r: z.int().describe('Rank of the adapter.'),
    lora_alpha: z.number().describe('The output of the adapter is scaled by lora_alpha / r.'),
    target_modules: z.array(z.string()).describe('Names of the linear layers that are adapted.'),
    use_rslora: z.boolean().describe('Whether the output is scaled by lora_alpha / √r instead.'),
  })
  .meta({ title: 'LoraConfig' });
