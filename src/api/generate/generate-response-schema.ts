// The schema of a complete answer of POST /inference/v1/generate, for OpenAPI and tests. generate-response.ts writes it.
import { z } from 'zod';
import { warnings } from '#validation/unknown-fields';
import { promptLogprobsSchema, usageSchema, weightVersionsSchema } from '../chat/chat-response-schema.ts';

const listedLogprob = z
  .object({
    token: z.string().describe('`token_id:N`; with output_mode text, the text of the token.'),
    token_id: z.int().describe('Id of the token.'),
    logprob: z.number(),
    bytes: z.array(z.int()).optional().describe('With output_mode text: the bytes of the token.'),
    rank: z.int().nullable().describe('1 is the most likely token. Null: not known.'),
  })
  .meta({ title: 'ListedLogprob' });

export const generatedSchema = z
  .object({
    request_id: z.string(),
    model: z.string(),
    created: z.int(),
    output_mode: z.enum(['tokens', 'text']).describe('As in the request.'),
    choices: z.array(
      z.object({
        index: z.int(),
        token_ids: z.array(z.int()),
        text: z.string().optional().describe('With output_mode text: the answer, without the stop text.'),
        logprobs: z
          .object({ content: z.array(listedLogprob.extend({ top_logprobs: z.array(listedLogprob) })) })
          .nullable(),
        finish_reason: z.string().nullable(),
        stop_reason: z.union([z.string(), z.int()]).nullable(),
        policy_step: z
          .int()
          .optional()
          .describe('Of a trainable model: the step whose weights sampled this choice. In streams, in its last chunk.'),
        weight_versions: weightVersionsSchema,
      }),
    ),
    usage: usageSchema,
    prompt_logprobs: promptLogprobsSchema,
    prompt_token_ids: z.array(z.int()).nullable(),
    kv_transfer_params: z.null(),
    warnings,
  })
  .meta({ title: 'GeneratedTokens' });
