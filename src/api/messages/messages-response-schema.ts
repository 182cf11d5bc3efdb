// The schema of a complete message in Anthropic's format, for OpenAPI and tests. messages-response.ts writes it.
import { z } from 'zod';
import { policyStepSchema } from '../chat/chat-response-schema.ts';
import { warnings } from '#validation/unknown-fields';

export const messageSchema = z
  .object({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(
      z.discriminatedUnion('type', [
        z.object({ type: z.literal('text'), text: z.string() }),
        z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
        z.object({
          type: z.literal('tool_use'),
          id: z.string(),
          name: z.string(),
          input: z.looseObject({}),
          caller: z.object({ type: z.literal('direct') }).describe('What called the tool: always the model itself.'),
        }),
      ]),
    ),
    stop_reason: z
      .enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'model_context_window_exceeded'])
      .nullable(),
    stop_sequence: z.string().nullable().describe('The stop sequence that ended the answer; null if none did.'),
    stop_details: z.null().describe('Always null.'),
    container: z.null().describe('Always null: this server does not run code.'),
    policy_step: policyStepSchema,
    usage: z.object({
      input_tokens: z.int(),
      cache_creation_input_tokens: z
        .int()
        .describe(
          'Number of tokens cached because of `cache_control`: always 0, because prompts are cached without it.',
        ),
      cache_read_input_tokens: z.int().describe('Number of input tokens that were read from the cache.'),
      output_tokens: z.int(),
      output_tokens_details: z.object({ thinking_tokens: z.int().describe('Number of reasoning tokens.') }),
      service_tier: z.literal('standard'),
    }),
    warnings,
  })
  .meta({ title: 'Message' });

export const tokenCountSchema = z.object({ input_tokens: z.int(), warnings }).meta({ title: 'TokenCount' });
