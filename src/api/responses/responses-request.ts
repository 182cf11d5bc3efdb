// POST /v1/responses in OpenAI's format → ChatRequest, once the previous conversation is known, and the request fields that the
// answer repeats (responses-echo.ts). Features that need OpenAI's servers are refused by name; fields without effect are in `warnings`.
import type { z } from 'zod';
import type { ChatRequest, ToolChoice } from '#services/chat/chat-request';
import { PLAIN_OUTPUT, PLAIN_PROMPT, PLAIN_SAMPLING_OPTIONS } from '#services/chat/plain-options';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import { echo, type EchoedRequest } from './responses-echo.ts';
import { responsesRequestSchema, type format, type tool, type Wire } from './responses-fields.ts';
import { toMessages, type Item } from './responses-input.ts';
import { itemsOf } from './responses-items.ts';
import { formatConstraint } from '../chat/structured-output.ts';
import { sentFields, unknownFields } from '#validation/unknown-fields';
import { parse, refuse } from '#validation/parse';

/** Previous conversation, from stored responses. */
export interface Recalled {
  /** The conversation that this request continues. */
  readonly conversation: readonly Item[];
  /** Items referenced by the input, by id. */
  readonly items: ReadonlyMap<string, Item>;
}

export interface ResponsesRequest {
  readonly previousId: string | null;
  /** Ids of items of other responses that its input references. */
  readonly namedItems: readonly string[];
  /** Null: the server's default. */
  readonly store: boolean | null;
  readonly background: boolean;
  readonly echoed: EchoedRequest;
  readonly stream: boolean;
  readonly logprobs: boolean;
  /** Throws if the input cannot be read. */
  complete(recalled: Recalled): {
    readonly request: ChatRequest;
    /** The full input of the model, without the instructions. */
    readonly input: readonly Item[];
    readonly warnings: readonly string[];
  };
}

export function parseResponsesRequest(body: unknown): ResponsesRequest {
  const wire = parse(responsesRequestSchema, body, 'body');
  refuseElsewhere(wire);
  if (wire.background && wire.store === false)
    refuse(['body', 'background'], 'A background response is always stored. Leave out store, or background.', true);
  const items = itemsOf(wire.input);
  const found = new Set(unknownFields(responsesRequestSchema, sentFields(wire)));
  noteWithoutEffect(wire, found);
  const logprobs = wire.include?.includes('message.output_text.logprobs') ?? false;
  return {
    previousId: wire.previous_response_id ?? null,
    namedItems: [...new Set(items.flatMap((item) => (item.type === 'item_reference' ? [String(item['id'])] : [])))],
    store: wire.store ?? null,
    background: wire.background ?? false,
    echoed: echo(wire),
    stream: wire.stream ?? false,
    logprobs,
    complete({ conversation, items: named }) {
      const warnings = new Set(found);
      const own = items.map((item) => (item.type === 'item_reference' ? named.get(String(item['id']))! : item));
      const input = [...conversation, ...own];
      if (own.length === 0) refuse(['body', 'input'], 'Send input.', wire.input);
      const messages = toMessages(input, conversation.length, warnings);
      return { request: toRequest(wire, messages, logprobs), input, warnings: [...warnings] };
    },
  };
}

function toRequest(wire: Wire, conversation: readonly ChatMessage[], logprobs: boolean): ChatRequest {
  const instructions = wire.instructions ? [{ role: 'system', content: wire.instructions }] : [];
  const messages = [...instructions, ...conversation];
  const tools = wire.tools && wire.tools.length > 0 ? wire.tools.map(toTool) : null;
  const { format: shape } = wire.text ?? {};
  const formatted = shape ? formatConstraint(responseFormat(shape)) : null;
  return {
    model: wire.model || null,
    messages,
    tools,
    toolChoice: toolChoice(wire),
    parallelToolCalls: wire.parallel_tool_calls ?? true,
    prompt: {
      ...PLAIN_PROMPT,
      name: 'input',
      truncatePromptTokens: wire.truncation === 'auto' ? -1 : null,
      reasoningEffort: wire.reasoning?.effort ?? null,
    },
    sampling: {
      ...PLAIN_SAMPLING_OPTIONS,
      temperature: wire.temperature ?? null,
      topP: wire.top_p ?? null,
      maxTokens: wire.max_output_tokens ?? null,
      maxTokensField: 'max_output_tokens',
    },
    output: {
      ...PLAIN_OUTPUT,
      logprobs,
      topLogprobs: wire.top_logprobs ?? 0,
    },
    n: 1,
    beamSearch: null,
    constraint: formatted && { constraint: formatted, param: 'text' },
    priority: 0,
    cacheSalt: null,
  };
}

/** In the format of chat. */
function responseFormat({
  type,
  name,
  schema,
  strict,
}: z.output<typeof format>): Parameters<typeof formatConstraint>[0] {
  if (type !== 'json_schema') return { type };
  if (!schema) refuse(['body', 'text', 'format', 'schema'], 'A format of type json_schema must have a schema.', null);
  return { type, json_schema: { name, schema, strict } };
}

function toTool({ type, name, description, parameters, strict }: z.output<typeof tool>, index: number): ToolDefinition {
  const place = ['body', 'tools', index];
  if (type !== 'function')
    refuse(
      [...place, 'type'],
      `Built-in tools such as ${type.slice(0, 50)} are not supported. Send your own functions.`,
      type,
    );
  if (name === undefined) refuse([...place, 'name'], 'A function must have a name.', null);
  return {
    type,
    function: {
      name,
      ...(description ? { description } : {}),
      ...(parameters ? { parameters } : {}),
      ...(strict ? { strict: true } : {}),
    },
  };
}

function toolChoice({ tool_choice: choice, tools }: Wire): ToolChoice {
  const names = (tools ?? []).map(({ name }) => name);
  if (choice === undefined || choice === null || typeof choice === 'string') {
    const mode = choice ?? 'auto';
    if (mode === 'required' && names.length === 0)
      refuse(['body', 'tool_choice'], 'When using `tool_choice`, `tools` must be set.', choice);
    return { mode: names.length === 0 ? 'none' : mode, callable: null };
  }
  const callable = choice.type === 'function' ? [choice.name] : choice.tools.map(({ name }) => name);
  const unknown = callable.find((name) => !names.includes(name));
  if (unknown !== undefined)
    refuse(['body', 'tool_choice'], `tool_choice names ${unknown.slice(0, 100)}, which is not in tools.`, choice);
  return choice.type === 'function' ? { mode: 'named', callable } : { mode: choice.mode, callable };
}

/** Features of OpenAI's servers outside of the model, and why they are not supported. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  conversation: 'Conversation ids are not supported: send previous_response_id',
  prompt: 'Stored prompts are not supported: send instructions and input',
  context_management: 'Context management is not supported',
  moderation: 'Moderation is not supported',
};

function refuseElsewhere(wire: Readonly<Record<string, unknown>>): void {
  for (const [field, why] of Object.entries(ELSEWHERE)) {
    const value = wire[field];
    const isEmpty =
      value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) refuse(['body', field], `${why}. Leave ${field} out.`, value);
  }
}

function noteWithoutEffect({ text: shape, reasoning, include }: Wire, warnings: Set<string>): void {
  if (shape?.verbosity && shape.verbosity !== 'medium') warnings.add('text.verbosity was not used.');
  if (reasoning?.summary) warnings.add('reasoning.summary was not used: the thinking itself is in the output.');
  for (const what of include ?? [])
    if (what !== 'message.output_text.logprobs')
      warnings.add(`include ${what.slice(0, 100)} was not used: this server has no such output.`);
}
