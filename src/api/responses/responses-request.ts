// POST /v1/responses in OpenAI's format → ChatRequest, once the previous conversation is known, and the request fields that the
// answer repeats (responses-echo.ts). Features that need OpenAI's servers are refused by name; fields without effect are in `warnings`.
import type { z } from 'zod';
import { isObject } from '#base/is-object';
import { nonEmpty } from '#base/non-empty';
import type { ChatRequest } from '#services/chat/chat-request';
import { PLAIN_OUTPUT, PLAIN_PROMPT } from '#services/chat/plain-options';
import type { ChatMessage } from '#domain/chat';
import { echo, type EchoedRequest } from './responses-echo.ts';
import {
  ITEM_DECISIONS,
  REASONING_DECISIONS,
  RESPONSES_DECISIONS,
  TEXT_DECISIONS,
  TOOL_DECISIONS,
} from './responses-decisions.ts';
import {
  allowedTools,
  format,
  functionChoice,
  functionTool,
  reasoningConfig,
  responsesRequestSchema,
  streamOptions,
  textConfig,
  tool,
  type Wire,
} from './responses-fields.ts';
import { inputItem, isUnfinished, toMessages, withoutEarlierThoughts, type Item } from './responses-input.ts';
import { itemsOf } from './responses-items.ts';
import { offeredTools, toolChoice, type Namespaces, type OfferedTools } from './responses-tools.ts';
import { refuseOtherChoices } from '../chat/chat-rules.ts';
import { applyDecisions } from '../chat/field-decisions.ts';
import { extensionOptions, samplingOptions } from '../chat/generation-options.ts';
import { formatConstraint } from '../chat/structured-output.ts';
import { sentEffort, sentKwargs, type SentVariable } from '../chat/unread-variables.ts';
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
  /** Whether they had an effect is known with the model. */
  readonly variables: readonly SentVariable[];
  /** The full input of the model, without the instructions: the conversation, then its own items. */
  inputOf(recalled: Recalled): readonly Item[];
  /** Throws if the input cannot be read. */
  complete(recalled: Recalled): {
    readonly request: ChatRequest;
    readonly input: readonly Item[];
    readonly warnings: readonly string[];
  };
}

export function parseResponsesRequest(body: unknown): ResponsesRequest {
  if (isObject(body)) refuseOtherChoices(body);
  const wire = parse(responsesRequestSchema, body, 'body');
  if (wire.background && wire.store === false)
    refuse(['body', 'background'], 'A background response is always stored. Leave out store, or background.', true);
  const items = itemsOf(wire.input);
  const offered = offeredTools(wire.tools);
  const decided = applyDecisions(responsesRequestSchema, RESPONSES_DECISIONS, wire);
  const found = new Set([...decided, ...offered.warnings]);
  noteNested(wire, items, found);
  const logprobs = wire.include?.includes('message.output_text.logprobs') ?? false;
  const inputOf = ({ conversation, items: named }: Recalled): readonly Item[] => [
    ...conversation,
    ...items.map((item) => (isReference(item) ? named.get(String(item['id']))! : item)),
  ];
  if (wire.top_logprobs && !logprobs)
    found.add('top_logprobs was not used: it needs message.output_text.logprobs in include.');
  return {
    previousId: wire.previous_response_id ?? null,
    namedItems: [...new Set(items.flatMap((item) => (isReference(item) ? [String(item['id'])] : [])))],
    store: wire.store ?? null,
    background: wire.background ?? false,
    echoed: echo(wire),
    stream: wire.stream ?? false,
    logprobs,
    namespaces: offered.namespaces,
    variables: [...sentKwargs(wire.chat_template_kwargs), ...sentEffort('reasoning.effort', wire.reasoning?.effort)],
    inputOf,
    complete(recalled) {
      const warnings = new Set(found);
      if (items.length === 0) refuse(['body', 'input'], 'Send input.', wire.input);
      const input = inputOf(recalled);
      const said = toMessages(input, recalled.conversation.length, warnings);
      const messages = wire.reasoning?.context === 'current_turn' ? withoutEarlierThoughts(said) : said;
      const continues = isUnfinished(input.at(-1)!);
      return { request: toRequest(wire, messages, continues, offered, logprobs), input, warnings: [...warnings] };
    },
  };
}

/** Clients may leave out its type: what has an id alone is a reference. */
const isReference = ({ type, role, id }: Item): boolean =>
  type === 'item_reference' || (!type && role === undefined && typeof id === 'string');

function toRequest(
  wire: Wire,
  conversation: readonly ChatMessage[],
  continues: boolean,
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
      continueFinalMessage: continues,
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
}: NonNullable<z.output<typeof textConfig>['format']>): Parameters<typeof formatConstraint>[0] {
  if (type !== 'json_schema') return { type };
  if (!schema) refuse(['body', 'text', 'format', 'schema'], 'A format of type json_schema must have a schema.', null);
  return { type, json_schema: { name, schema, strict } };
}

/** About fields of the objects within the request. */
function noteNested(wire: Wire, items: readonly Item[], warnings: Set<string>) {
  const { text: shape, reasoning, include, tools, tool_choice: choice, stream_options: options } = wire;
  const note = (...of: Parameters<typeof applyDecisions>) => {
    for (const warning of applyDecisions(...of)) warnings.add(warning);
  };
  note(textConfig, TEXT_DECISIONS, shape ?? {}, ['text']);
  note(format, {}, shape?.format ?? {}, ['text', 'format']);
  note(reasoningConfig, REASONING_DECISIONS, reasoning ?? {}, ['reasoning']);
  note(streamOptions, {}, options ?? {}, ['stream_options']);
  if (isObject(choice)) note(choice.type === 'function' ? functionChoice : allowedTools, {}, choice, ['tool_choice']);
  for (const [index, each] of items.entries()) note(inputItem, ITEM_DECISIONS, each, ['input', index]);
  for (const [index, each] of (tools ?? []).entries()) {
    if (each.type !== 'function' && each.type !== 'namespace') continue;
    note(tool, TOOL_DECISIONS, each, ['tools', index]);
    for (const [at, inside] of (each.tools ?? []).entries())
      note(functionTool, TOOL_DECISIONS, inside, ['tools', index, 'tools', at]);
  }
  for (const what of include ?? [])
    if (what !== 'message.output_text.logprobs')
      warnings.add(`include ${what.slice(0, 100)} was not used: this server has no such output.`);
}
