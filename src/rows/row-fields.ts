// Fields that rows of all kinds share: tools, variables of the chat template, and what is left over, which no job uses.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { nonEmpty } from '#base/non-empty';
import { asPythonKnows } from '#base/python-form';
import type { ToolDefinition } from '#domain/chat';
import type { UnusedField } from '#domain/sft';
import { parseJson } from '#validation/json-text';
import { asSent } from '#validation/read-ahead';
import type { Refuse } from './chat-form.ts';
import { rowTool } from './message.ts';

/** `tools`, or OpenAI's older `functions`: a list or its JSON text, of tools or of bare functions. */
const tools = z
  .unknown()
  .transform((sent, ctx) => {
    const listed = typeof sent === 'string' ? parsed(sent) : sent;
    if (listed === undefined && sent !== undefined)
      ctx.addIssue({ code: 'custom', message: 'must be a list of tools, or the JSON text of one' });
    const refuseIn =
      (at: number): Refuse =>
      (path, message) =>
        ctx.addIssue({ code: 'custom', path: [at, ...path], message });
    return Array.isArray(listed) ? listed.map((each, at) => asTool(each, refuseIn(at))) : (listed ?? null);
  })
  .pipe(z.array(rowTool).nullable());

/** Bare functions become tools: OpenAI's older ones, those of the Responses API, and Anthropic's, whose schema has another name. */
function asTool(sent: unknown, refuse: Refuse): unknown {
  if (!isObject(sent)) return sent;
  const { type, ...own } = sent;
  if ('function' in sent || typeof sent['name'] !== 'string') return type === null ? asPythonKnows(own, sent) : sent;
  const { input_schema: schema, ...bare } = own;
  const hasSchema = isGiven(schema);
  if (isGiven(type) && type !== 'function' && !(type === 'custom' && hasSchema))
    refuse(['type'], `is ${JSON.stringify(type)}, but tools of rows are functions`);
  if (hasSchema && isGiven(own['parameters']))
    refuse(['input_schema'], 'stands beside parameters, which it means: leave one out');
  const named = hasSchema ? { ...bare, parameters: schema } : own;
  return { type: 'function', function: asPythonKnows(type === 'function' ? ofResponses(named) : named, sent) };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** As serving reads a function of the Responses API. */
function ofResponses(sent: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { name, description, parameters, output_schema: result, strict, defer_loading: deferred, ...rest } = sent;
  const named = { description, parameters, return: result, strict, defer_loading: deferred };
  return { name, ...Object.fromEntries(Object.entries(named).filter(([, value]) => isGiven(value))), ...rest };
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

/** How rows say, as a whole, that they are not to be trained: KTO's label, and OpenAI's, Axolotl's and ms-swift's flags of messages. */
const NOT_WANTED = ['weight', 'train', 'loss'];

/** Why a row is not to be trained; null: it does not say so. `label` says it of an answer, and is a class beside other rows. */
export function problemOfUnwanted(row: Readonly<Record<string, unknown>>, hasLabel: boolean): string | null {
  const field = [...(hasLabel ? ['label'] : []), ...NOT_WANTED].find((name) => row[name] === false || row[name] === 0);
  return field === undefined
    ? null
    : `has ${field} ${String(row[field])}: it is not to be learnt, and a job would train it. Leave the row out`;
}

/** With `unused` only if there is something. */
export const readAs = <Row>(row: Row, unused: readonly UnusedField[]) => ({
  row,
  ...(unused.length > 0 ? { unused } : {}),
});
