// The schema of a complete completion, for OpenAPI and tests. completion-response.ts writes it.
import { z } from 'zod';
import { policyStepSchema, promptLogprobsSchema, usageSchema, weightVersionsSchema } from './chat-response-schema.ts';
import { warnings } from '#validation/unknown-fields';

export const textCompletionSchema = z
  .object({
    id: z.string(),
    object: z.literal('text_completion'),
    created: z.int(),
    model: z.string(),
    system_fingerprint: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        text: z.string(),
        logprobs: z
          .object({
            text_offset: z.array(z.int()).describe('Offset of each token in the text.'),
            token_logprobs: z.array(z.number().nullable()).describe('Log-probability of each token.'),
            tokens: z.array(z.string()),
            top_logprobs: z.array(z.record(z.string(), z.number()).nullable()),
          })
          .nullable(),
        finish_reason: z.string().nullable(),
        stop_reason: z.union([z.string(), z.int()]).nullable(),
        policy_step: policyStepSchema,
        weight_versions: weightVersionsSchema.optional(),
        token_ids: z.array(z.int()).nullable(),
        prompt_token_ids: z.array(z.int()).nullable(),
        prompt_logprobs: promptLogprobsSchema,
      }),
    ),
    service_tier: z.null(),
    usage: usageSchema,
    kv_transfer_params: z.null(),
    warnings,
  })
  .meta({ title: 'TextCompletion' });
