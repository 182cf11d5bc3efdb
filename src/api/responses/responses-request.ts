// POST /v1/responses in OpenAI's format → ChatRequest, once the previous conversation is known, and the request fields that the
// answer repeats (responses-echo.ts). Features that need OpenAI's servers are refused by name; fields without effect are in `warnings`.
import type { z } from 'zod';
import { nonEmpty } from '#base/non-empty';
import type { ChatRequest } from '#services/chat/chat-request';
import { PLAIN_OUTPUT, PLAIN_PROMPT } from '#services/chat/plain-options';
import type { ChatMessage } from '#domain/chat';
import { echo, type EchoedRequest } from './responses-echo.ts';
import { RESPONSES_DECISIONS } from './responses-decisions.ts';
import { responsesRequestSchema, type format, type Wire } from './responses-fields.ts';
import { toMessages, type Item } from './responses-input.ts';
import { itemsOf } from './responses-items.ts';
import { offeredTools, toolChoice, type Namespaces, type OfferedTools } from './responses-tools.ts';
import { applyDecisions } from '../chat/field-decisions.ts';
import { extensionOptions, samplingOptions } from '../chat/generation-options.ts';
import { formatConstraint } from '../chat/structured-output.ts';
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
  readonly namespaces: Namespaces;
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
  if (wire.background && wire.store === false)
    refuse(['body', 'background'], 'A background response is always stored. Leave out store, or background.', true);
  const items = itemsOf(wire.input);
  const offered = offeredTools(wire.tools);
  const decided = applyDecisions(responsesRequestSchema, RESPONSES_DECISIONS, wire);
  const found = new Set([...decided, ...offered.warnings]);
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
    namespaces: offered.namespaces,
    complete({ conversation, items: named }) {
      const warnings = new Set(found);
      const own = items.map((item) => (item.type === 'item_reference' ? named.get(String(item['id']))! : item));
      const input = [...conversation, ...own];
      if (own.length === 0) refuse(['body', 'input'], 'Send input.', wire.input);
      const messages = toMessages(input, conversation.length, warnings);
      return { request: toRequest(wire, messages, offered, logprobs), input, warnings: [...warnings] };
    },
  };
}

function toRequest(
  wire: Wire,
  conversation: readonly ChatMessage[],
  offered: OfferedTools,
  logprobs: boolean,
): ChatRequest {
  const instructions = wire.instructions ? [{ role: 'system', content: wire.instructions }] : [];
  const messages = [...instructions, ...conversation];
  const { format: shape } = wire.text ?? {};
  const formatted = shape ? formatConstraint(responseFormat(shape)) : null;
  return {
    model: wire.model || null,
    messages,
    tools: nonEmpty(offered.definitions),
    toolChoice: toolChoice(wire, offered),
    parallelToolCalls: wire.parallel_tool_calls ?? true,
    prompt: {
      ...PLAIN_PROMPT,
      name: 'input',
      chatTemplateKwargs: wire.chat_template_kwargs ?? {},
      truncatePromptTokens: wire.truncation === 'auto' ? -1 : null,
      reasoningEffort: wire.reasoning?.effort ?? null,
    },
    sampling: samplingOptions(wire, {
      maxTokens: wire.max_output_tokens ?? null,
      maxTokensField: 'max_output_tokens',
    }),
    output: {
      ...PLAIN_OUTPUT,
      logprobs,
      topLogprobs: wire.top_logprobs ?? 0,
      includeStop: wire.include_stop_str_in_output ?? false,
      skipSpecialTokens: wire.skip_special_tokens ?? true,
      includeReasoning: wire.include_reasoning ?? true,
    },
    ...extensionOptions(wire, formatted && { constraint: formatted, param: 'text' }),
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

function noteWithoutEffect({ text: shape, reasoning, include }: Wire, warnings: Set<string>): void {
  if (shape?.verbosity && shape.verbosity !== 'medium') warnings.add('text.verbosity was not used.');
  if (reasoning?.summary) warnings.add('reasoning.summary was not used: the thinking itself is in the output.');
  for (const what of include ?? [])
    if (what !== 'message.output_text.logprobs')
      warnings.add(`include ${what.slice(0, 100)} was not used: this server has no such output.`);
}
