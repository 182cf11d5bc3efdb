// Answers in the format of OpenAI's Responses API: output items, complete or as the events that build them. A complete answer is the
// content of its last event.
import { lazily, LazyList } from '#base/lazy-list';
import type { Answer, ChatDelta } from '#services/chat/answer';
import { createPartReader, type Part, type PartEvent } from '#services/chat/answer-parts';
import type { Finish } from '#services/chat/choice-text';
import type { SampledToken } from '#services/chat/collected-tokens';
import type { ResponseEvent, ResponseWriter, WireObject } from '#services/responses/response-content';
import { countThinking, countTokens, DEAD_END, policyStep, seconds } from '../chat/answer-fields.ts';
import { finite } from '../chat/chat-logprobs.ts';
import { unreadVariables, type SentVariable } from '../chat/unread-variables.ts';
import type { EchoedRequest } from './responses-echo.ts';
import { itemId } from './responses-items.ts';
import type { Namespaces } from './responses-tools.ts';
import { warned } from '#validation/unknown-fields';

/** What is known when the request arrives. A background response stores it as JSON until it is answered. */
export interface ResponseHead {
  readonly id: string;
  readonly createdAtMs: number;
  /** The model as named by the client, until the answer names it. */
  readonly model: string;
  readonly store: boolean;
  readonly background: boolean;
  readonly previousId: string | null;
  readonly echoed: EchoedRequest;
  readonly logprobs: boolean;
  /** Both are absent in heads that earlier versions stored. */
  readonly namespaces?: Namespaces;
  readonly variables?: readonly SentVariable[];
  readonly warnings: readonly string[];
}

/** And what is known when the answer begins. */
interface BegunHead extends ResponseHead {
  readonly answer: Answer;
  readonly now: () => number;
}

type Status = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed';

/** The state of the answer at one moment. */
interface State {
  readonly status: Status;
  readonly output: readonly object[];
  readonly outputTokens: number;
  readonly thinkingTokens: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}

const QUEUED: State = { status: 'queued', output: [], outputTokens: 0, thinkingTokens: 0, error: null };
const BEGUN: State = { ...QUEUED, status: 'in_progress' };

function responseOf(
  head: ResponseHead & Partial<BegunHead>,
  { status, output, outputTokens, thinkingTokens, error }: State,
) {
  const { answer, echoed, now } = head;
  const inputTokens = answer?.promptTokens.length ?? 0;
  const isOver = status !== 'in_progress' && status !== 'queued';
  return {
    id: head.id,
    object: 'response' as const,
    created_at: seconds(head.createdAtMs),
    completed_at: status === 'completed' && now ? seconds(now()) : null,
    status,
    background: head.background,
    error,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: echoed.instructions ?? null,
    max_output_tokens: echoed.max_output_tokens ?? null,
    model: answer?.model.servedName ?? head.model,
    ...(answer && isOver ? policyStep(answer) : {}),
    output,
    parallel_tool_calls: echoed.parallelToolCalls,
    previous_response_id: head.previousId,
    prompt_cache_key: echoed.prompt_cache_key ?? null,
    reasoning: echoed.reasoning,
    safety_identifier: echoed.safety_identifier ?? null,
    service_tier: 'default',
    store: head.store,
    temperature: echoed.temperature,
    text: echoed.text,
    tool_choice: echoed.toolChoice,
    tools: echoed.tools,
    top_logprobs: echoed.topLogprobs,
    top_p: echoed.topP,
    truncation: echoed.truncation,
    usage: isOver
      ? {
          input_tokens: inputTokens,
          // Nothing is paid for writing: every prompt is cached.
          input_tokens_details: { cached_tokens: answer?.prompt.report?.cachedTokenCount ?? 0, cache_write_tokens: 0 },
          output_tokens: outputTokens,
          output_tokens_details: { reasoning_tokens: thinkingTokens },
          total_tokens: inputTokens + outputTokens,
        }
      : null,
    user: echoed.user ?? null,
    metadata: echoed.metadata ?? {},
    ...warned(head.warnings),
  };
}

/** For a queued response. */
export const queuedResponse = (head: ResponseHead): WireObject => responseOf(head, QUEUED);

/** The events of a queued response, before it starts. */
export const openingEvents = (head: ResponseHead): ResponseEvent[] =>
  ['response.created', 'response.queued'].map((type, number) => ({
    type,
    sequence_number: number,
    response: queuedResponse(head),
  }));

const OPENING_COUNT = 2;

/** For background responses. */
export const responseWriter: ResponseWriter = {
  // The stored value is what the route made of the request.
  events: (head, answer, deltas, now) => responseEvents(head as unknown as ResponseHead, answer, deltas, now),
  ending: (response, number) => ({ type: 'response.failed', sequence_number: number, response }),
};

/** Have lazy lists. The last event contains the complete answer. In the background, the events follow the opening ones. */
export async function* responseEvents(
  asked: ResponseHead,
  answer: Answer,
  deltas: AsyncIterable<ChatDelta>,
  now: () => number,
): AsyncGenerator<ResponseEvent> {
  const warnings = [...asked.warnings, ...unreadVariables(answer, asked.variables ?? [])];
  const head: BegunHead = { ...asked, warnings, answer, now };
  let number = asked.background ? OPENING_COUNT : 0;
  let isBegun = false;
  const event = (type: string, more: object): ResponseEvent => ({ type, sequence_number: number++, ...more });
  const reader = createPartReader({ keepsTokens: head.logprobs });
  const output: object[] = [];
  let finish: Finish | null = null;
  let [outputTokens, thinkingTokens] = [0, 0];
  for await (const delta of deltas) {
    if (!isBegun && !head.background) yield event('response.created', { response: responseOf(head, BEGUN) });
    if (!isBegun) yield event('response.in_progress', { response: responseOf(head, BEGUN) });
    isBegun = true;
    outputTokens += countTokens(delta);
    thinkingTokens += countThinking(delta);
    finish = delta.finish ?? finish;
    const isCut = finish !== null && finish.reason !== 'stop' && finish.reason !== 'tool_calls';
    for (const part of reader.push(delta)) {
      const status = part.kind !== 'end' ? 'in_progress' : isCut ? 'incomplete' : 'completed';
      for (const { type, more } of itemEvents(head, part, status)) yield event(type, more);
      if (part.kind === 'end') output.push(itemOf(head, part.index, part.part, status));
    }
  }
  const state = { ...endOf(finish), output, outputTokens, thinkingTokens };
  yield event(`response.${state.status}`, { response: responseOf(head, state) });
}

/**
 * The last event of a failed stream, after the last one that was sent. OpenAI's clients throw for an object `error` alone; its fields are
 * those of the event too, as they are described.
 */
export const errorEvent = (
  error: { message: string; type: string; code: string | null; param: string | null },
  sequenceNumber: number,
) => ({
  type: 'error',
  sequence_number: sequenceNumber,
  code: error.code,
  message: error.message,
  param: error.param,
  error,
});

function endOf(finish: Finish | null): Pick<State, 'status' | 'error'> {
  if (finish?.reason === 'length') return { status: 'incomplete', error: null };
  if (finish === null || finish.reason === 'cancelled') {
    return { status: 'failed', error: { code: 'server_error', message: DEAD_END } };
  }
  return { status: 'completed', error: null };
}

interface Untold {
  readonly type: string;
  readonly more: object;
}

function itemEvents(head: BegunHead, event: PartEvent, status: string): Untold[] {
  const { kind, index, part } = event;
  const at = { item_id: itemId(head.id, ITEM_KINDS[part.kind], index), output_index: index };
  const name = { call: 'function_call_arguments', text: 'output_text', thinking: 'reasoning_text' }[part.kind];
  if (kind === 'piece') {
    const inContent = part.kind === 'call' ? {} : { content_index: 0 };
    const logprobs = part.kind === 'text' ? { logprobs: [...logprobsOf(head, event.tokens)] } : {};
    return [tell(`${name}.delta`, { ...at, ...inContent, delta: event.text, ...logprobs })];
  }
  const item = itemOf(head, index, part, status);
  const inList = { output_index: index, item };
  if (part.kind === 'call') {
    if (kind === 'begin') return [tell('output_item.added', inList)];
    const done = { ...at, name: head.namespaces?.[part.name]?.name ?? part.name, arguments: part.text };
    return [tell(`${name}.done`, done), tell('output_item.done', inList)];
  }
  const content = { ...at, content_index: 0, part: contentOf(head, part) };
  if (kind === 'begin')
    return [
      tell('output_item.added', { ...inList, item: { ...item, content: [] } }),
      tell('content_part.added', content),
    ];
  const logprobs = part.kind === 'text' ? { logprobs: logprobsOf(head, part.tokens) } : {};
  return [
    tell(`${name}.done`, { ...at, content_index: 0, text: part.text, ...logprobs }),
    tell('content_part.done', content),
    tell('output_item.done', inList),
  ];
}

const tell = (type: string, more: object): Untold => ({ type: `response.${type}`, more });

const ITEM_KINDS = { call: 'function_call', text: 'message', thinking: 'reasoning' } as const;

function itemOf(head: BegunHead, index: number, part: Part, status: string) {
  const id = itemId(head.id, ITEM_KINDS[part.kind], index);
  if (part.kind === 'call')
    return {
      id,
      type: 'function_call',
      status,
      call_id: part.id,
      ...(head.namespaces?.[part.name] ?? { name: part.name }),
      arguments: part.text,
    };
  const content = [contentOf(head, part)];
  if (part.kind === 'thinking') return { id, type: 'reasoning', status, summary: [], content };
  return { id, type: 'message', status, role: 'assistant', content };
}

function contentOf(head: BegunHead, part: Exclude<Part, { kind: 'call' }>): object {
  if (part.kind === 'thinking') return { type: 'reasoning_text', text: part.text };
  return { type: 'output_text', text: part.text, annotations: [], logprobs: logprobsOf(head, part.tokens) };
}

/** Lazy: an entry with alternatives takes kilobytes, and four events have all of them. */
function logprobsOf({ logprobs, answer }: BegunHead, tokens: Iterable<SampledToken>): LazyList<object> {
  if (!logprobs) return new LazyList();
  const { tokenizer } = answer.model.base.text;
  const entry = (tokenId: number, logprob: number) => ({
    token: tokenizer.tokenText(tokenId),
    logprob: finite(logprob),
    bytes: Array.from(tokenizer.tokenBytes(tokenId)),
  });
  return lazily(tokens, ({ tokenId, logprob, topLogprobs }) => ({
    ...entry(tokenId, logprob),
    top_logprobs: topLogprobs.map((top) => entry(top.tokenId, top.logprob)),
  }));
}
