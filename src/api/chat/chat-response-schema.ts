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
    prompt_tokens_details: z.object({ cached_tokens: z.int() }).describe('Breakdown of the tokens in the prompt.'),
    completion_tokens_details: z.object({ reasoning_tokens: z.int() }).describe('Breakdown of the generated tokens.'),
  })
  .meta({ title: 'CompletionUsage' });

/** Of whatever an answer calls one sampled continuation. */
export const policyStepSchema = z
  .int()
  .optional()
  .describe('Of a trainable model: the step whose weights sampled this. In streams, in the last chunk of a choice.');

export const weightVersionsSchema = z
  .array(
    z
      .object({
        version: z.string().describe('The step, or `default` for a base model.'),
        start: z.int().describe('First token of the answer that these weights sampled, from 0.'),
        end: z.int().describe('The token after the last one.'),
      })
      .meta({ title: 'WeightVersionSpan' }),
  )
  .describe('Which weights sampled which tokens, as in vLLM. In streams, in the last chunk of a choice.');

export const promptLogprobsSchema = z
  .array(
    z
      .record(
        z.string(),
        z.object({ logprob: z.number(), rank: z.int(), decoded_token: z.string().describe('The token as text.') }),
      )
      .nullable(),
  )
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
        message: z
          .looseObject({
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
            reasoning_content: z.string().nullable().describe('The model’s reasoning; null if there is none.'),
          })
          .meta({ title: 'AssistantMessage' }), // without a name, generators call it Message, as that of /v1/messages is
        logprobs: z
          .object({
            content: z.array(tokenLogprob.extend({ top_logprobs: z.array(tokenLogprob) })).nullable(),
            refusal: z.null().describe('Always null: refusals are not reported separately.'),
          })
          .nullable(),
        finish_reason: z.string().nullable(),
        stop_reason: z.union([z.string(), z.int()]).nullable(),
        policy_step: policyStepSchema,
        policy_token_spans: z
          .array(
            z.object({
              start_token: z.int().describe('First token of the answer that the step sampled, from 0.'),
              end_token: z.int().describe('The token after the last one.'),
              generation_id: z.string().describe('Id of the answer.'),
              policy_version: z.int().describe('The step whose weights sampled the tokens.'),
              lora_slot: z.string().describe('Name of the model at that step.'),
              update_seq: z.int().describe('The step again: weights change between answers only.'),
            }),
          )
          .optional()
          .describe('Which step sampled which tokens, as ART reads it; with return_token_ids, of trainable models.'),
        weight_versions: weightVersionsSchema.optional(),
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
