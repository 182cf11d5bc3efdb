// Chat answers in the format of OpenAI and vLLM: one object, or chunks. The object always has all keys; a chunk has only the keys
// that it adds, because clients' stream helpers merge chunks key by key.
import { lazily } from '#base/lazy-list';
import type { ChatDelta } from '#services/chat/answer';
import type { ChatAnswer } from '#services/chat/chat';
import type { ToolCallDelta } from '#services/chat/choice-text';
import type { CollectedCall, CollectedChoice } from '#services/chat/collected-choice';
import {
  fingerprint,
  policySpans,
  policyStep,
  seconds,
  shownTokens,
  usageOf,
  weightVersions,
  wireFinishReason,
} from './answer-fields.ts';
import { logprobWriter, promptLogprobs } from './chat-logprobs.ts';
import type { ChatFormat } from './chat-request.ts';
import { warned } from '#validation/unknown-fields';

/** The values that all parts of one answer share. */
export interface AnswerHead {
  readonly id: string;
  readonly createdAtMs: number;
  readonly answer: ChatAnswer;
  readonly format: ChatFormat;
}

export const chatId = (requestId: string): string => `chatcmpl-${requestId}`;

/** Has lazy lists. */
export function completion(head: AnswerHead, choices: readonly CollectedChoice[]) {
  const { answer, format } = head;
  const sum = (key: 'tokenCount' | 'thinkingCount') => choices.reduce((total, choice) => total + choice[key], 0);
  return {
    id: head.id,
    object: 'chat.completion',
    created: seconds(head.createdAtMs),
    model: answer.model.servedName,
    choices: choices.map((collected, index) => choice(head, index, collected)),
    service_tier: null,
    system_fingerprint: fingerprint(answer.model),
    usage: usageOf([answer], sum('tokenCount'), sum('thinkingCount')),
    prompt_logprobs: promptLogprobs(answer),
    prompt_token_ids: format.returnTokenIds ? answer.promptTokens : null,
    kv_transfer_params: null,
    ...warned(format.warnings),
  };
}

function choice({ id, answer, format }: AnswerHead, index: number, collected: CollectedChoice) {
  const { finish, tokens, tokenCount } = collected;
  const logprob = logprobWriter(answer, format);
  const content = answer.echo + collected.content;
  const reasoning = collected.reasoning || null;
  const toolCalls = collected.calls.map(wholeCall);
  const isEmpty = content === '' && (reasoning !== null || toolCalls.length > 0);
  return {
    index,
    message: {
      role: answer.role,
      content: isEmpty ? null : content,
      refusal: null,
      annotations: null,
      audio: null,
      function_call: null,
      ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
      reasoning,
      reasoning_content: reasoning,
    },
    logprobs: logprob && { content: lazily(tokens, logprob), refusal: null },
    finish_reason: wireFinishReason(finish),
    stop_reason: finish?.stopReason ?? null,
    ...policyStep(answer),
    ...(format.returnTokenIds ? policySpans(id, answer, tokenCount) : {}),
    ...(format.returnWeightVersions ? weightVersions(answer, tokenCount) : {}),
    token_ids: format.returnTokenIds ? tokens.ids : null,
  };
}

const wholeCall = ({ id, name, arguments: text }: CollectedCall) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: text },
});

/** The first chunk of a choice: only its role. The role is sent once, because clients concatenate repeated ones. */
export function roleChunk(head: AnswerHead, index: number) {
  return {
    ...chunkHead(head),
    choices: [{ index, delta: { role: head.answer.role, content: '' }, logprobs: null, finish_reason: null }],
    prompt_token_ids: head.format.returnTokenIds ? head.answer.promptTokens : null,
    ...warned(index === 0 ? head.format.warnings : []),
    ...continuousUsage(head, 0, 0),
  };
}

export const echoChunk = (head: AnswerHead, index: number) => ({
  ...chunkHead(head),
  choices: [{ index, delta: { content: head.answer.echo }, logprobs: null, finish_reason: null }],
  ...continuousUsage(head, 0, 0),
});

/** Whether a token that ended hidden reasoning also brings something of the answer. */
export const saysMore = ({ content, toolCalls }: ChatDelta): boolean => content !== '' || toolCalls.length > 0;

/** Counts of this choice so far. The last text and the finish reason share a chunk, as in vLLM. */
export function deltaChunk(head: AnswerHead, delta: ChatDelta, counts: { tokens: number; thinking: number }) {
  const { answer, format } = head;
  const { choiceIndex: index, content, reasoning, toolCalls, finish } = delta;
  const tokens = shownTokens(delta);
  const logprob = logprobWriter(answer, format);
  const says = reasoning !== '' || toolCalls.length > 0;
  return {
    ...chunkHead(head),
    choices: [
      {
        index,
        delta: {
          ...(content !== '' || !says ? { content } : {}),
          ...(reasoning === '' ? {} : { reasoning, reasoning_content: reasoning }),
          ...(toolCalls.length > 0 ? { tool_calls: toolCalls.map(callPiece) } : {}),
        },
        logprobs: logprob && { content: tokens.map(logprob), refusal: null },
        finish_reason: wireFinishReason(finish),
        ...(finish ? { stop_reason: finish.stopReason, ...policyStep(answer) } : {}),
        ...(finish && format.returnTokenIds ? policySpans(head.id, answer, counts.tokens) : {}),
        ...(finish && format.returnWeightVersions ? weightVersions(answer, counts.tokens) : {}),
        token_ids: format.returnTokenIds ? tokens.map(({ tokenId }) => tokenId) : null,
      },
    ],
    ...continuousUsage(head, counts.tokens, counts.thinking),
  };
}

const callPiece = ({ index, id, name, arguments: text }: ToolCallDelta) =>
  id === undefined
    ? { index, function: { arguments: text } }
    : { index, id, type: 'function', function: { name, arguments: text } };

export const usageChunk = (head: AnswerHead, completionTokens: number, reasoningTokens: number) => ({
  ...chunkHead(head),
  choices: [],
  usage: usageOf([head.answer], completionTokens, reasoningTokens),
});

function chunkHead({ id, createdAtMs, answer }: AnswerHead) {
  return {
    id,
    object: 'chat.completion.chunk',
    created: seconds(createdAtMs),
    model: answer.model.servedName,
    system_fingerprint: fingerprint(answer.model),
  };
}

const continuousUsage = ({ format, answer }: AnswerHead, completionTokens: number, reasoningTokens: number) =>
  format.continuousUsage ? { usage: usageOf([answer], completionTokens, reasoningTokens) } : {};
