// Fields that rows of all kinds share: tools, variables of the chat template, and what is left over, which no job uses.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { nonEmpty } from '#base/non-empty';
import type { ToolDefinition } from '#domain/chat';
import type { UnusedField } from '#domain/sft';
import { parseJson } from '#validation/json-text';
import { asSent } from '#validation/read-ahead';
import { rowTool } from './message.ts';

/** `tools`, or OpenAI's older `functions`: a list or its JSON text, of tools or of bare functions. */
const tools = z
  .unknown()
  .transform((sent, ctx) => {
    const listed = typeof sent === 'string' ? parsed(sent) : sent;
    if (listed === undefined && sent !== undefined)
      ctx.addIssue({ code: 'custom', message: 'must be a list of tools, or the JSON text of one' });
    return Array.isArray(listed) ? listed.map(asTool) : (listed ?? null);
  })
  .pipe(z.array(rowTool).nullable());

/** The schema of Anthropic's tools has another name. */
function asTool(sent: unknown): unknown {
  if (!isObject(sent) || 'function' in sent || typeof sent['name'] !== 'string') return sent;
  const { input_schema: schema, ...bare } = sent;
  return { type: 'function', function: schema === undefined ? sent : { ...bare, parameters: schema } };
}

/** Undefined: not JSON. */
function parsed(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

const variables = asSent(z.record(z.string(), z.unknown())).nullish();

export const rowFields = { tools: tools.optional(), functions: tools.optional(), chat_template_kwargs: variables };

/** What Transformers' apply_chat_template takes for itself: its template never sees them. */
const RESERVED = [
  ...['conversation', 'messages', 'tools', 'chat_template', 'add_generation_prompt', 'continue_final_message'],
  ...['tokenize', 'sanitize_control_tokens', 'padding', 'truncation', 'max_length', 'tokenizer_kwargs'],
  ...['return_tensors', 'return_dict', 'return_assistant_tokens_mask'],
];

interface Shared {
  readonly tools?: readonly ToolDefinition[] | null | undefined;
  readonly functions?: readonly ToolDefinition[] | null | undefined;
  readonly chat_template_kwargs?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Or why they cannot be used. */
export function contextOf({ tools: given, functions, chat_template_kwargs: kwargs }: Shared) {
  const reserved = Object.keys(kwargs ?? {}).find((name) => RESERVED.includes(name));
  if (reserved !== undefined)
    return { problem: `chat_template_kwargs.${reserved}: is not a variable that a row can set: leave it out` };
  if (nonEmpty(given) && nonEmpty(functions))
    return { problem: 'has tools, and functions, the older field for them: leave one out' };
  return {
    tools: nonEmpty(given) ?? nonEmpty(functions),
    ...(kwargs && Object.keys(kwargs).length > 0 ? { variables: kwargs } : {}),
  };
}

const SHARED = new Set(Object.keys(rowFields));

/** Fields of the row beside those that its form has. Null counts as absent, as data sets with columns write it. */
export const leftOver = (row: object, ...known: string[]): UnusedField[] =>
  Object.entries(row)
    .filter(([field, value]) => !known.includes(field) && !SHARED.has(field) && value !== null && value !== undefined)
    .map(([field]) => ({ of: 'row', field }));

/** Where the fields that rows share are not used: plain text has no template. */
export const leftOverShared = (row: object, ...known: string[]): UnusedField[] => [
  ...leftOver(row, ...known),
  ...Object.keys(row)
    .filter((field) => SHARED.has(field))
    .map((field) => ({ of: 'row' as const, field })),
];

/** With `unused` only if there is something. */
export const readAs = <Row>(row: Row, unused: readonly UnusedField[]) => ({
  row,
  ...(unused.length > 0 ? { unused } : {}),
});
