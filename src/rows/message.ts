// Chat messages and tools on the wire. Extra keys are passed on, because templates may read them.
import { z } from 'zod';
import { nonEmpty } from '#base/non-empty';
import { asPythonKnows } from '#base/python-form';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import { boolean, union } from '#validation/lax';
import { check, type ValidationItem } from '#validation/parse';
import { asSent, readAhead } from '#validation/read-ahead';

const text = z.string();
const part = union({ str: text, dict: z.looseObject({ type: text }) });
const content = union({ str: text, 'list[part]': z.array(part) });

const called = z.looseObject({ name: text, arguments: text.nullish().transform((value) => value ?? '') });

const functionCall = z
  .looseObject({
    id: text.optional(),
    type: text.optional(),
    function: called,
  })
  .meta({ title: 'FunctionToolCall' });

/** A call with free text: templates see a function with one argument. */
const customCall = z
  .looseObject({
    id: text.optional(),
    type: z.literal('custom'),
    custom: z.looseObject({ name: text, input: text }).describe('A custom tool, which takes text.'),
  })
  .transform(({ id, custom: { name, input } }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify({ input }) },
  }))
  .meta({ title: 'CustomToolCall' });

const toolCall = union({ function: functionCall, custom: customCall });

export const anyMessage = z.looseObject({
  role: text.describe('system, developer, user, assistant, tool, function, or a role of the chat template'),
  content: content.nullish(),
  name: text.nullish(),
  tool_calls: z.array(toolCall).nullish(),
  tool_call_id: text.nullish().describe('Id of the tool call that this message answers.'),
  function_call: called.nullish().describe('The older form of tool_calls.'),
  refusal: text.nullish().describe('Read as content if there is no other.'),
});

/** Other roles may have empty content: an assistant turn with only tool calls, or a role of the template's own. */
const MUST_SAY_SOMETHING = new Set(['developer', 'system', 'user', 'tool']);

/** The results of tools in data rows may lack the id of their call, as TRL's and Transformers' do. */
export const messageOf = (source: 'requests' | 'rows') =>
  anyMessage
    .superRefine((value, ctx) => {
      if ((value.content === undefined || value.content === null) && MUST_SAY_SOMETHING.has(value.role)) {
        const complaint: Pick<ValidationItem, 'type' | 'msg'> =
          value.content === undefined
            ? { type: 'missing', msg: 'Field required' }
            : { type: 'string_type', msg: 'Input should be a valid string' };
        ctx.addIssue({ code: 'custom', path: ['content'], message: complaint.msg, params: { complaint } });
      }
      const called = nonEmpty(value.tool_calls) ? 'tool_calls' : value.function_call ? 'function_call' : null;
      if (called !== null && MUST_SAY_SOMETHING.has(value.role))
        ctx.addIssue({
          code: 'custom',
          path: [called],
          message: `holds a call, which belongs to a message of the assistant, not of ${value.role}`,
        });
      if (source === 'requests' && value.role === 'tool' && typeof value.tool_call_id !== 'string') {
        ctx.addIssue({
          code: 'custom',
          path: ['tool_call_id'],
          message: 'Field required',
          params: { complaint: { type: 'missing', msg: 'Field required' } },
        });
      }
    })
    .transform(toChatMessage);

export const message = messageOf('requests').meta({ title: 'ChatMessage' });

/**
 * Bare strings among the parts become text parts; an empty list of calls is dropped, so that templates take the simple path. Templates
 * know neither OpenAI's older form of a call nor its field for a refusal: they become a call and content.
 */
function toChatMessage(wire: z.output<typeof anyMessage>): ChatMessage {
  const { content: said, tool_calls, name, tool_call_id, function_call: older, refusal, ...rest } = wire;
  const calls = nonEmpty(tool_calls) ?? (older ? [{ type: 'function', function: older }] : null);
  const content = said || !refusal ? said : refusal;
  return {
    ...rest,
    ...(content === undefined ? {} : { content: Array.isArray(content) ? content.map(toPart) : content }),
    ...(calls ? { tool_calls: calls } : {}),
    ...(name === undefined || name === null ? {} : { name }),
    ...(tool_call_id === undefined || tool_call_id === null ? {} : { tool_call_id }),
  };
}

const toPart = (value: z.output<typeof part>): Readonly<Record<string, unknown>> =>
  typeof value === 'string' ? { type: 'text', text: value } : value;

export const functionFields = z.looseObject({
  name: text,
  description: text.nullish(),
  parameters: asSent(z.record(z.string(), z.unknown())).nullish(),
  strict: boolean().nullish(),
});

export const toolFields = z.looseObject({ type: text.default('function'), function: functionFields });

/** Checked, with what Python knows of its numbers. Null: invalid. */
function readTool(sent: unknown, read: (checked: ToolDefinition, own: ToolDefinition) => ToolDefinition) {
  const { success, data } = check(toolFields, sent);
  return success ? read(data, sent as ToolDefinition) : null;
}

/** Templates write out a whole tool: clients send null for what they did not set, and vLLM writes no such `strict`. */
function requestedTool(checked: ToolDefinition, own: ToolDefinition): ToolDefinition {
  const { strict, ...called } = checked.function;
  const named = strict === null ? called : checked.function;
  return asPythonKnows({ ...checked, function: asPythonKnows(named, own.function) }, own);
}

export const tool = readAhead(toolFields, (sent) => readTool(sent, requestedTool)).meta({ title: 'Tool' });

/** Of data rows: as it was written, as in Transformers, but for a missing type. */
export const rowTool = readAhead(toolFields, (sent) =>
  readTool(sent, ({ type }, own) => (Object.hasOwn(own, 'type') ? own : asPythonKnows({ ...own, type }, own))),
);
