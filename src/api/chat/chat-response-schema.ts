// The schema of a complete chat answer, for OpenAPI and tests. chat-response.ts writes it.
import { z } from 'zod';
import { warnings } from '#validation/unknown-fields';

const tokenLogprob = z
  .object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()).nullable() })
  .meta({ title: 'TokenLogprob' });

export const usageSchema = z
  .object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    prompt_tokens_details: z.object({ cached_tokens: z.int() }),
    completion_tokens_details: z.object({ reasoning_tokens: z.int() }),
  })
  .meta({ title: 'CompletionUsage' });

/** Of whatever an answer calls one sampled continuation. */
export const policyStepSchema = z.int().optional().meta({
  description: 'Of a trainable model: the step whose weights sampled this. In streams, in the last chunk of a choice.',
});

export const promptLogprobsSchema = z
  .array(z.record(z.string(), z.object({ logprob: z.number(), rank: z.int(), decoded_token: z.string() })).nullable())
  .nullable();

export const completionSchema = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.looseObject({
          role: z.string(),
          content: z.string().nullable(),
          tool_calls: z
            .array(
              z.object({
                id: z.string(),
                type: z.literal('function'),
                function: z.object({ name: z.string(), arguments: z.string() }),
              }),
            )
            .optional(),
          reasoning: z.string().nullable(),
          reasoning_content: z.string().nullable(),
        }),
        logprobs: z
          .object({
            content: z.array(tokenLogprob.extend({ top_logprobs: z.array(tokenLogprob) })).nullable(),
            refusal: z.null(),
          })
          .nullable(),
        finish_reason: z.string().nullable(),
        stop_reason: z.union([z.string(), z.int()]).nullable(),
        policy_step: policyStepSchema,
        token_ids: z.array(z.int()).nullable(),
      }),
    ),
    service_tier: z.null(),
    system_fingerprint: z.string().nullable(),
    usage: usageSchema,
    prompt_logprobs: promptLogprobsSchema,
    prompt_token_ids: z.array(z.int()).nullable(),
    kv_transfer_params: z.null(),
    warnings,
  })
  .meta({ title: 'ChatCompletion' });
