// Answers in Anthropic's format: a message of blocks, or the events that build one. Both are made of the same parts.
import { createId } from '#base/ids';
import { isObject } from '#base/is-object';
import { parseExactJson } from '#base/exact-json';
import type { Answer, ChatDelta } from '#services/chat/answer';
import { createPartReader, type Part, type PartEvent } from '#services/chat/answer-parts';
import type { Finish } from '#services/chat/choice-text';
import { countThinking, countTokens, DEAD_END, policyStep } from '../chat/answer-fields.ts';
import { warned } from '#validation/unknown-fields';

export interface MessageHead {
  readonly id: string;
  readonly answer: Answer;
  /** max_tokens of the request. */
  readonly maxTokens: number;
  readonly warnings: readonly string[];
}

export const messageId = (requestId: string): string => `msg_${requestId}`;

/** Cached tokens are not counted twice: `input_tokens` are those that had to be computed. */
function usageOf({ promptTokens, prompt }: Answer, outputTokens: number, thinkingTokens: number) {
  const cached = prompt.report?.cachedTokenCount ?? 0;
  return {
    input_tokens: promptTokens.length - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: thinkingTokens },
  };
}

/**
 * `call`: the last one. An answer with a call ends in `tool_use`, also if the client forced it, which chat does not call the model's choice.
 * A stop sequence comes first if it cut the call, which must not run. As in vLLM.
 */
function stopOf(finish: Finish | null, call: Part | null, outputTokens: number, maxTokens: number) {
  const because = (reason: string | null, sequence: string | null = null) => ({
    stop_reason: reason,
    stop_sequence: sequence,
  });
  if (finish === null || finish.reason === 'cancelled') return because(null);
  if (finish.reason === 'length')
    return because(outputTokens < maxTokens ? 'model_context_window_exceeded' : 'max_tokens');
  if (typeof finish.stopReason === 'string' && !(call && inputOf(call.text)))
    return because('stop_sequence', finish.stopReason);
  return because(call ? 'tool_use' : 'end_turn');
}

/** Anthropic's servers know no stop_reason for it. */
const deadEnd = (finish: Finish | null): string[] => (finish?.reason === 'cancelled' ? [DEAD_END] : []);

const isCall = ({ kind }: Part): boolean => kind === 'call';

/** A message at its start: no content, no tokens. */
const emptyMessage = ({ id, answer }: MessageHead) => ({
  id,
  type: 'message' as const,
  role: 'assistant' as const,
  model: answer.model.servedName,
  content: [] as object[],
  stop_reason: null as string | null,
  stop_sequence: null as string | null,
  stop_details: null,
  container: null,
  ...policyStep(answer),
  usage: { ...usageOf(answer, 0, 0), service_tier: 'standard' as const },
});

export async function wholeMessage(head: MessageHead, deltas: AsyncIterable<ChatDelta>) {
  const reader = createPartReader({ keepsTokens: false });
  const parts: Part[] = [];
  let finish: Finish | null = null;
  let [outputTokens, thinkingTokens] = [0, 0];
  for await (const delta of deltas) {
    outputTokens += countTokens(delta);
    thinkingTokens += countThinking(delta);
    finish = delta.finish ?? finish;
    for (const { kind, part } of reader.push(delta)) if (kind === 'end') parts.push(part);
  }
  const message = emptyMessage(head);
  return {
    ...message,
    content: parts.map(wholeBlock),
    ...stopOf(finish, parts.findLast(isCall) ?? null, outputTokens, head.maxTokens),
    usage: { ...message.usage, ...usageOf(head.answer, outputTokens, thinkingTokens) },
    ...warned([...head.warnings, ...parts.flatMap(brokenCall), ...deadEnd(finish)]),
  };
}

function wholeBlock(part: Part): object {
  const block = emptyBlock(part);
  if (part.kind === 'thinking') return { ...block, thinking: part.text, signature: createId() };
  return part.kind === 'text' ? { ...block, text: part.text } : { ...block, input: inputOf(part.text) ?? {} };
}

function emptyBlock(part: Part): object {
  if (part.kind === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  if (part.kind === 'call')
    return { type: 'tool_use', id: part.id, name: part.name, input: {}, caller: { type: 'direct' } };
  return { type: 'text', text: '' };
}

/** Null: the model's arguments are not a JSON object. */
function inputOf(text: string): object | null {
  try {
    const input = parseExactJson(text);
    return isObject(input) ? input : null;
  } catch {
    return null;
  }
}

function brokenCall(part: Part): string[] {
  if (part.kind !== 'call' || inputOf(part.text) !== null) return [];
  return [
    `The input of ${part.id} cannot be read: the model wrote ${JSON.stringify(part.text.slice(0, 500))}, which is not a JSON object.`,
  ];
}

/** Events of one message; `name` is also their `type`. */
export interface MessageEvent {
  readonly name: string;
  readonly data: object;
}

const event = (name: string, data: object): MessageEvent => ({ name, data: { type: name, ...data } });

export async function* messageEvents(
  head: MessageHead,
  deltas: AsyncIterable<ChatDelta>,
): AsyncGenerator<MessageEvent> {
  const reader = createPartReader({ keepsTokens: false });
  let finish: Finish | null = null;
  let call: Part | null = null;
  const told: string[] = []; // about what came after the start
  let [outputTokens, thinkingTokens, started] = [0, 0, false];
  for await (const delta of deltas) {
    if (!started) yield event('message_start', { message: { ...emptyMessage(head), ...warned(head.warnings) } });
    started = true;
    outputTokens += countTokens(delta);
    thinkingTokens += countThinking(delta);
    finish = delta.finish ?? finish;
    for (const part of reader.push(delta)) {
      if (isCall(part.part)) call = part.part;
      if (part.kind === 'end') told.push(...brokenCall(part.part));
      if (part.kind === 'end' && part.part.kind === 'thinking') yield signatureOf(part);
      yield blockEvent(part);
    }
  }
  yield event('message_delta', {
    delta: {
      ...stopOf(finish, call, outputTokens, head.maxTokens),
      ...{ stop_details: null, container: null },
      ...policyStep(head.answer),
    },
    usage: usageOf(head.answer, outputTokens, thinkingTokens),
    ...warned([...told, ...deadEnd(finish)]),
  });
  yield event('message_stop', {});
}

/**
 * Nothing is signed. But clients send thinking back only if it has a signature (AI SDK), and find it by its signature again (Inspect AI), so
 * that each is unique, as in vLLM.
 */
const signatureOf = ({ index }: PartEvent): MessageEvent =>
  event('content_block_delta', { index, delta: { type: 'signature_delta', signature: createId() } });

function blockEvent(part: PartEvent): MessageEvent {
  const { index } = part;
  if (part.kind === 'begin') return event('content_block_start', { index, content_block: emptyBlock(part.part) });
  if (part.kind === 'end') return event('content_block_stop', { index });
  return event('content_block_delta', { index, delta: pieceOf(part.part.kind, part.text) });
}

function pieceOf(kind: Part['kind'], text: string): object {
  if (kind === 'thinking') return { type: 'thinking_delta', thinking: text };
  return kind === 'text' ? { type: 'text_delta', text } : { type: 'input_json_delta', partial_json: text };
}
