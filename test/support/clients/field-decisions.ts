// What each field of the clients' packages means on this server: read from the schemas of the requests and from the tables of decisions.
// Knows no server.
import { z } from 'zod';
import {
  CHAT_DECISIONS,
  COMPLETION_DECISIONS,
  EMBEDDING_DECISIONS,
  MESSAGE_DECISIONS,
  OF_VLLM,
  PART_DECISIONS,
  STREAM_OPTIONS_DECISIONS,
} from '#api/chat/chat-decisions';
import { chatRequestSchema } from '#api/chat/chat-request';
import { completionRequestSchema } from '#api/chat/completion-request';
import { embeddingRequestSchema } from '#api/chat/embeddings-schema';
import type { Decisions } from '#api/chat/field-decisions';
import { streamOptions } from '#api/chat/generation-fields';
import { jsonSchema, responseFormat, structuredOutputs } from '#api/chat/structured-output';
import { detokenizeSchema, tokenizeSchema } from '#api/chat/tokenize-schema';
import {
  GENERATE_DECISIONS,
  generateRequestSchema,
  SAMPLING_DECISIONS,
  samplingParamsSchema,
} from '#api/generate/generate-request';
import * as ofMessages from '#api/messages/messages-decisions';
import * as messages from '#api/messages/messages-fields';
import * as ofResponses from '#api/responses/responses-decisions';
import * as responses from '#api/responses/responses-fields';
import { inputItem } from '#api/responses/responses-input';
import { anyMessage, functionFields, toolFields } from '#rows/message';

interface Request {
  readonly path: string;
  readonly schema: z.ZodObject;
  readonly decisions: Decisions;
  /** The place of an object within the request. */
  readonly within?: string;
}

/** Chat messages and tools are passed on as they are: these fields are for the templates that know them. */
const forTemplates = (schema: z.ZodObject, fields: readonly string[]) => schema.extend(reading(...fields).shape);

const reading = (...fields: readonly string[]) =>
  z.looseObject(Object.fromEntries(fields.map((field) => [field, z.unknown()])));

const at =
  (path: string) =>
  (within: string, schema: z.ZodObject, decisions: Decisions = {}): Request => ({ path, schema, decisions, within });
const inChat = at('/v1/chat/completions');
const inResponses = at('/v1/responses');
const inMessages = at('/v1/messages');

/** A place at which objects differ by their `type`, or by their role. */
interface Place extends Request {
  /** What is read there. Objects of other types are refused. */
  readonly reads: readonly string[];
  /** A request with such an object. */
  readonly around: (object: object) => object;
}

const ROLES = ['user', 'assistant', 'system', 'developer', 'tool', 'function'];
const FORMATS = ['text', 'json_object', 'json_schema'];
const ask = [{ role: 'user', content: 'Hi' }];
const saying = (...content: readonly object[]) => [{ role: 'user', content }];
const weather = { type: 'function', name: 'get_weather', parameters: {} };
const called = { type: 'function_call_output', call_id: 'c' };
const anyTool = [{ name: 'get_weather', input_schema: { type: 'object' } }];

const { TOOL_DECISIONS, ITEM_DECISIONS } = ofResponses;
const { BLOCK_DECISIONS } = ofMessages;
const messageFields = forTemplates(anyMessage, ['reasoning', 'tools', 'task']);
const choiceFields = responses.functionChoice.extend(responses.allowedTools.shape);
const chatTool = forTemplates(toolFields, ['defer_loading']);
const chatFunction = forTemplates(functionFields, ['defer_loading']);
const inResult = (object: object) => ({
  messages: saying({ type: 'tool_result', tool_use_id: 'c', content: [object] }),
});

/** By their names in python/sdks/request_fields.py. */
export const PLACES: Readonly<Record<string, Place>> = {
  'chat messages[]': { ...inChat('messages[]', messageFields, MESSAGE_DECISIONS), reads: ROLES, around: (each) => ({ messages: [each] }) },
  'chat messages[].content[]': { ...inChat('messages[].content[]', reading('type', 'text', 'refusal'), PART_DECISIONS), reads: ['text', 'refusal'], around: (each) => ({ messages: saying(each) }) },
  'chat messages[].tool_calls[]': { ...inChat('messages[].tool_calls[]', reading('id', 'type', 'function', 'custom')), reads: ['function', 'custom'], around: (each) => ({ messages: [{ role: 'assistant', tool_calls: [each] }] }) },
  'chat messages[].tool_calls[].function': { ...inChat('messages[].tool_calls[].function', reading('name', 'arguments')), reads: [''], around: () => ({}) },
  'chat messages[].tool_calls[].custom': { ...inChat('messages[].tool_calls[].custom', reading('name', 'input')), reads: [''], around: () => ({}) },
  'chat messages[].function_call': { ...inChat('messages[].function_call', reading('name', 'arguments')), reads: [''], around: () => ({}) },
  'chat response_format': { ...inChat('response_format', responseFormat), reads: FORMATS, around: (each) => ({ messages: ask, response_format: each }) },
  'chat tools[]': { ...inChat('tools[]', chatTool), reads: ['function'], around: (each) => ({ messages: ask, tools: [each] }) },
  'chat tools[].function': { ...inChat('tools[].function', chatFunction), reads: [''], around: () => ({}) },
  'chat tool_choice': { ...inChat('tool_choice', reading('type', 'function', 'allowed_tools')), reads: ['function', 'allowed_tools'], around: (each) => ({ messages: ask, tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: each }) },
  'responses input[]': { ...inResponses('input[]', inputItem, ITEM_DECISIONS), reads: ['message', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output', 'reasoning', 'item_reference'], around: (each) => ({ input: [...ask, each] }) },
  'responses input[].content[]': { ...inResponses('input[].content[]', reading('type', 'text', 'refusal'), ofResponses.PART_DECISIONS), reads: ['input_text', 'output_text', 'reasoning_text', 'refusal'], around: (each) => ({ input: saying(each) }) },
  'responses input[].output[]': { ...inResponses('input[].output[]', reading('type', 'text'), ofResponses.PART_DECISIONS), reads: ['input_text'], around: (each) => ({ input: [{ ...called, output: [each] }] }) },
  'responses text.format': { ...inResponses('text.format', responses.format), reads: FORMATS, around: (each) => ({ input: 'Hi', text: { format: each } }) },
  'responses tools[]': { ...inResponses('tools[]', responses.tool, TOOL_DECISIONS), reads: ['function', 'namespace'], around: (each) => ({ input: 'Hi', tools: [each] }) },
  'responses tools[].tools[]': { ...inResponses('tools[].tools[]', responses.functionTool, TOOL_DECISIONS), reads: ['function'], around: (each) => ({ input: 'Hi', tools: [{ type: 'namespace', name: 'n', tools: [each] }] }) },
  'responses tool_choice': { ...inResponses('tool_choice', choiceFields), reads: ['function', 'allowed_tools'], around: (each) => ({ input: 'Hi', tools: [weather], tool_choice: each }) },
  'messages messages[]': { ...inMessages('messages[]', messages.messageSchema), reads: ROLES, around: (each) => ({ messages: [each] }) },
  'messages messages[].content[]': { ...inMessages('messages[].content[]', messages.block, BLOCK_DECISIONS), reads: ['text', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result'], around: (each) => ({ messages: saying(each) }) },
  'messages messages[].content[].content[]': { ...inMessages('messages[].content[].content[]', messages.block, BLOCK_DECISIONS), reads: ['text'], around: inResult },
  'messages system[]': { ...inMessages('system[]', messages.block, BLOCK_DECISIONS), reads: ['text'], around: (each) => ({ messages: ask, system: [each] }) },
  'messages tools[]': { ...inMessages('tools[]', messages.tool, ofMessages.TOOL_DECISIONS), reads: ['custom'], around: (each) => ({ messages: ask, tools: [each] }) },
  'messages tool_choice': { ...inMessages('tool_choice', messages.toolChoiceSchema), reads: ['auto', 'any', 'tool', 'none'], around: (each) => ({ messages: ask, tools: anyTool, tool_choice: each }) },
  'messages thinking': { ...inMessages('thinking', messages.thinkingSchema, ofMessages.THINKING_DECISIONS), reads: ['enabled', 'disabled', 'adaptive'], around: (each) => ({ messages: ask, thinking: each }) },
  'messages output_config.format': { ...inMessages('output_config.format', messages.jsonFormat), reads: ['json_schema'], around: (each) => ({ messages: ask, output_config: { format: each } }) },
}; // prettier-ignore

/** Objects within requests that are of one kind. */
const NESTED: Readonly<Record<string, Request>> = {
  'chat stream_options': inChat('stream_options', streamOptions, STREAM_OPTIONS_DECISIONS),
  'chat response_format.json_schema': inChat('response_format.json_schema', jsonSchema),
  'chat structured_outputs': inChat('structured_outputs', structuredOutputs),
  'responses text': inResponses('text', responses.textConfig, ofResponses.TEXT_DECISIONS),
  'responses reasoning': inResponses('reasoning', responses.reasoningConfig, ofResponses.REASONING_DECISIONS),
  'messages output_config': inMessages('output_config', messages.outputConfig, ofMessages.OUTPUT_CONFIG_DECISIONS),
};

/** By the names of requests in python/sdks/request_fields.py. */
const REQUESTS: Readonly<Record<string, Request>> = {
  ...PLACES,
  ...NESTED,
  chat: { path: '/v1/chat/completions', schema: chatRequestSchema, decisions: CHAT_DECISIONS },
  completions: { path: '/v1/completions', schema: completionRequestSchema, decisions: COMPLETION_DECISIONS },
  embeddings: { path: '/v1/embeddings', schema: embeddingRequestSchema, decisions: EMBEDDING_DECISIONS },
  responses: {
    path: '/v1/responses',
    schema: responses.responsesRequestSchema,
    decisions: ofResponses.RESPONSES_DECISIONS,
  },
  messages: { path: '/v1/messages', schema: messages.messagesRequestSchema, decisions: ofMessages.MESSAGES_DECISIONS },
  count_tokens: {
    path: '/v1/messages/count_tokens',
    schema: messages.countTokensSchema,
    decisions: ofMessages.COUNT_DECISIONS,
  },
  tokenize: { path: '/tokenize', schema: tokenizeSchema, decisions: OF_VLLM },
  tokenize_chat: { path: '/tokenize', schema: tokenizeSchema, decisions: OF_VLLM },
  detokenize: { path: '/detokenize', schema: detokenizeSchema, decisions: {} },
  generate: { path: '/inference/v1/generate', schema: generateRequestSchema, decisions: GENERATE_DECISIONS },
  generate_sampling: {
    path: '/inference/v1/generate',
    schema: samplingParamsSchema,
    decisions: SAMPLING_DECISIONS,
    within: 'sampling_params',
  },
};

/** Refused where the request is read, in a form of its own. */
const REFUSED_THERE = { thread: 'The server does not keep threads. Send the whole conversation without thread.' };

export interface Meaning {
  readonly use: 'honoured' | 'harmless' | 'refused';
  readonly why: string;
}

/** Null: nobody decided. */
function meaningOf(request: string, field: string): Meaning | null {
  const { schema, decisions } = REQUESTS[request]!;
  const decision = Object.hasOwn(decisions, field) ? decisions[field]! : null;
  if (decision) return { use: decision.kind, why: decision.why };
  if (request === 'messages' && field in REFUSED_THERE)
    return { use: 'refused', why: REFUSED_THERE[field as keyof typeof REFUSED_THERE] };
  if (!Object.hasOwn(schema.shape, field)) return null;
  const { description = '' } = (schema.shape[field] as z.ZodType).meta() ?? {};
  const unused = /^No effect(?:: (.*))?\.$/.exec(description);
  return unused
    ? { use: 'harmless', why: unused[1] ?? 'it does not concern the answer.' }
    : { use: 'honoured', why: '' };
}

type Fields = readonly string[];

export interface OfPackage {
  readonly version: string;
  readonly requests: Readonly<Record<string, Fields>>;
  /** By place and type, or role. */
  readonly kinds?: Readonly<Record<string, Readonly<Record<string, Fields>>>>;
}

export type PackageFields = Readonly<Record<string, OfPackage>>;

/** The fields of what is read here, with the request or the place that has them. */
function* readFields({ requests, kinds = {} }: OfPackage): Iterable<[string, string]> {
  for (const [request, fields] of Object.entries(requests)) for (const field of fields) yield [request, field];
  for (const [place, ofKinds] of Object.entries(kinds))
    for (const kind of PLACES[place]!.reads) for (const field of ofKinds[kind] ?? []) yield [place, field];
}

/** Fields without a decision, as `package request.field`. */
export const undecided = (packages: PackageFields): string[] =>
  Object.entries(packages).flatMap(([name, ofPackage]) =>
    [...readFields(ofPackage)]
      .filter(([request, field]) => meaningOf(request, field) === null)
      .map(([request, field]) => `${name} ${request}.${field}`),
  );

/** Types of objects that are not read, with the place where clients send them. */
export const refusedKinds = (packages: PackageFields): [place: string, kind: string][] =>
  Object.values(packages).flatMap(({ kinds = {} }) =>
    Object.entries(kinds).flatMap(([place, ofKinds]) =>
      Object.keys(ofKinds)
        .filter((kind) => !PLACES[place]!.reads.includes(kind))
        .map((kind): [string, string] => [place, kind]),
    ),
  );

/** Endpoint, field, use and reason of every field that is not read. */
export function fieldRows(packages: PackageFields): string[][] {
  const rows = new Map<string, string[]>();
  for (const ofPackage of Object.values(packages))
    for (const [request, field] of readFields(ofPackage)) {
      const meaning = meaningOf(request, field);
      if (meaning === null || meaning.use === 'honoured') continue;
      const { path, within } = REQUESTS[request]!;
      const named = within === undefined ? field : `${within}.${field}`;
      rows.set(`${path} ${named}`, [`\`${path}\``, `\`${named}\``, meaning.use, meaning.why]);
    }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

const GENERATING = ['chat', 'completions', 'responses', 'messages'];

/** Fields that one of the generating endpoints reads, and that another one would only name in `warnings`. */
export function onlyNamed(packages: PackageFields): string[] {
  const fields = new Set(
    Object.values(packages).flatMap(({ requests }) => GENERATING.flatMap((name) => requests[name] ?? [])),
  );
  return [...fields]
    .filter((field) => {
      const meanings = GENERATING.map((request) => meaningOf(request, field));
      return meanings.includes(null) && meanings.some((meaning) => meaning !== null && meaning.use !== 'harmless');
    })
    .sort();
}
