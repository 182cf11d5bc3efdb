// The shape of a whole chat answer, for OpenAPI and for tests. chat-response.ts writes it.
import { z } from 'zod';

const tokenLogprob = z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()).nullable() });

export const completionSchema = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.int(),
      message: z.looseObject({ role: z.literal('assistant'), content: z.string().nullable() }),
      logprobs: z
        .object({
          content: z.array(tokenLogprob.extend({ top_logprobs: z.array(tokenLogprob) })).nullable(),
          refusal: z.null(),
        })
        .nullable(),
      finish_reason: z.string().nullable(),
      stop_reason: z.union([z.string(), z.int()]).nullable(),
      token_ids: z.array(z.int()).nullable(),
    }),
  ),
  service_tier: z.null(),
  system_fingerprint: z.string().nullable(),
  usage: z.object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    prompt_tokens_details: z.unknown().nullable(),
  }),
  prompt_logprobs: z.null(),
  prompt_token_ids: z.array(z.int()).nullable(),
  kv_transfer_params: z.null(),
});
