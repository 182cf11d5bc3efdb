// The schema of a complete answer of OpenAI's Responses API, for OpenAPI and tests. responses-response.ts writes it.
import { z } from 'zod';
import { policyStepSchema } from '../chat/chat-response-schema.ts';
import { warnings } from '#validation/unknown-fields';

const status = z.enum(['in_progress', 'completed', 'incomplete']);
const logprob = z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()) });

export const responseSchema = z
  .object({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    completed_at: z
      .int()
      .nullable()
      .describe('When it ended, in seconds since 1970 (Unix time); null if it has not ended.'),
    status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
    background: z.boolean(),
    error: z
      .object({
        code: z
          .enum(['server_error', 'rate_limit_exceeded', 'invalid_prompt'])
          .describe('What kind of failure; the message names the cause.'),
        message: z.string(),
      })
      .nullable(),
    incomplete_details: z
      .object({ reason: z.string() })
      .nullable()
      .describe('Why the answer is incomplete; null if it is complete.'),
    instructions: z.string().nullable(),
    max_output_tokens: z.int().nullable(),
    model: z.string(),
    policy_step: policyStepSchema,
    output: z.array(
      z.discriminatedUnion('type', [
        z.object({
          id: z.string(),
          type: z.literal('message'),
          status,
          role: z.literal('assistant'),
          content: z.array(
            z.object({
              type: z.literal('output_text'),
              text: z.string(),
              annotations: z.array(z.never()).describe('Sources of the text; always empty.'),
              logprobs: z.array(logprob.extend({ top_logprobs: z.array(logprob) })),
            }),
          ),
        }),
        z.object({
          id: z.string(),
          type: z.literal('reasoning'),
          status,
          summary: z.array(z.never()),
          content: z.array(z.object({ type: z.literal('reasoning_text'), text: z.string() })),
        }),
        z.object({
          id: z.string(),
          type: z.literal('function_call'),
          status,
          call_id: z.string(),
          namespace: z.string().optional(),
          name: z.string(),
          arguments: z.string(),
        }),
      ]),
    ),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.string().nullable(),
    prompt_cache_key: z.string().nullable(),
    reasoning: z.object({ effort: z.string().nullable(), summary: z.null() }),
    safety_identifier: z.string().nullable(),
    service_tier: z.literal('default'),
    store: z.boolean(),
    temperature: z.number().nullable(),
    text: z.looseObject({ format: z.looseObject({ type: z.string() }) }),
    tool_choice: z.union([z.string(), z.looseObject({})]),
    tools: z.array(z.looseObject({ type: z.string() })),
    top_logprobs: z.int(),
    top_p: z.number().nullable(),
    truncation: z.string(),
    usage: z
      .object({
        input_tokens: z.int(),
        input_tokens_details: z
          .object({
            cached_tokens: z.int(),
            cache_write_tokens: z.int().describe('Always 0: nothing is paid for writing to the cache.'),
          })
          .describe('Breakdown of the tokens in the input.'),
        output_tokens: z.int(),
        output_tokens_details: z.object({ reasoning_tokens: z.int() }),
        total_tokens: z.int(),
      })
      .nullable(),
    user: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    warnings,
  })
  .meta({ title: 'Response' });

export const inputTokensSchema = z
  .object({
    object: z.literal('response.input_tokens'),
    input_tokens: z
      .int()
      .describe('Tokens of the prompt, with the instructions, the tools and the previous conversation.'),
    warnings,
  })
  .meta({ title: 'InputTokens' });
