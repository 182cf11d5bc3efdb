// Chat messages and tools on the wire. Extra keys are passed on, because templates may read them.
import { z } from 'zod';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import { boolean, union } from '#validation/lax';
import type { ValidationItem } from '#validation/parse';

const text = z.string();
const part = union({ str: text, dict: z.looseObject({ type: text }) });
const content = union({ str: text, 'list[part]': z.array(part) });

const functionCall = z
  .looseObject({
    id: text.optional(),
    type: text.optional(),
    function: z.looseObject({ name: text, arguments: text.nullish().transform((value) => value ?? '') }),
  })
  .meta({ title: 'FunctionToolCall' });

/** A call with free text: templates see a function with one argument. */
const customCall = z
  .looseObject({ id: text.optional(), type: z.literal('custom'), custom: z.looseObject({ name: text, input: text }) })
  .transform(({ id, custom: { name, input } }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify({ input }) },
  }))
  .meta({ title: 'CustomToolCall' });

const toolCall = union({ function: functionCall, custom: customCall });

const anyMessage = z.looseObject({
  role: text.meta({
    description: 'system, developer, user, assistant, tool, function, or a role of the chat template',
  }),
  content: content.nullish(),
  name: text.nullish(),
  tool_calls: z.array(toolCall).nullish(),
  tool_call_id: text.nullish(),
});

/** Other roles may have empty content: an assistant turn with only tool calls, or a role of the template's own. */
const MUST_SAY_SOMETHING = new Set(['developer', 'system', 'user', 'tool']);

export const message = anyMessage
  .superRefine((value, ctx) => {
    if ((value.content === undefined || value.content === null) && MUST_SAY_SOMETHING.has(value.role)) {
      const complaint: Pick<ValidationItem, 'type' | 'msg'> =
        value.content === undefined
          ? { type: 'missing', msg: 'Field required' }
          : { type: 'string_type', msg: 'Input should be a valid string' };
      ctx.addIssue({ code: 'custom', path: ['content'], message: complaint.msg, params: { complaint } });
    }
    if (value.role === 'tool' && typeof value.tool_call_id !== 'string') {
      ctx.addIssue({
        code: 'custom',
        path: ['tool_call_id'],
        message: 'Field required',
        params: { complaint: { type: 'missing', msg: 'Field required' } },
      });
    }
  })
  .transform(toChatMessage)
  .meta({ title: 'ChatMessage' });

/** Bare strings among the parts become text parts; an empty list of calls is dropped, so that templates take the simple path. */
function toChatMessage({ content, tool_calls, name, tool_call_id, ...rest }: z.output<typeof anyMessage>): ChatMessage {
  return {
    ...rest,
    ...(content === undefined ? {} : { content: Array.isArray(content) ? content.map(toPart) : content }),
    ...(tool_calls && tool_calls.length > 0 ? { tool_calls } : {}),
    ...(name === undefined || name === null ? {} : { name }),
    ...(tool_call_id === undefined || tool_call_id === null ? {} : { tool_call_id }),
  };
}

const toPart = (value: z.output<typeof part>): Readonly<Record<string, unknown>> =>
  typeof value === 'string' ? { type: 'text', text: value } : value;

export const tool = z
  .looseObject({
    type: text.default('function'),
    function: z.looseObject({
      name: text,
      description: text.nullish(),
      parameters: z.record(z.string(), z.unknown()).nullish(),
      strict: boolean().nullish(),
    }),
  })
  .transform((value): ToolDefinition => value)
  .meta({ title: 'Tool' });
