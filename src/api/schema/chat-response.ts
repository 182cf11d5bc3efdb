// Chat answers as OpenAI and vLLM write them: one object, or chunks. All keys of the whole object are always there;
// chunks carry only what they have to say, because clients' stream helpers merge them key by key.
import { createHash } from 'node:crypto';
import type { ChatAnswer, ChatDelta } from '#services/chat';
import type { Finish } from '#services/choice-text';
import type { ChatFormat } from './chat-request.ts';

/** What all parts of one answer share. */
export interface AnswerHead {
  readonly id: string;
  readonly createdAtMs: number;
  readonly answer: ChatAnswer;
  readonly format: ChatFormat;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

export interface ChoiceResult {
  readonly text: string;
  readonly deltas: readonly ChatDelta[];
  readonly finish: Finish | null;
}

export const chatId = (requestId: string): string => `chatcmpl-${requestId}`;

export const usageOf = (promptTokens: number, completionTokens: number): Usage => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
});

export function completion(head: AnswerHead, choices: readonly ChoiceResult[]) {
  const { answer, format } = head;
  const completionTokens = choices.reduce((sum, { deltas }) => sum + deltas.length, 0);
  return {
    id: head.id,
    object: 'chat.completion',
    created: seconds(head.createdAtMs),
    model: answer.model.servedName,
    choices: choices.map(({ text, deltas, finish }, index) => ({
      index,
      message: {
        role: 'assistant',
        content: text,
        refusal: null,
        annotations: null,
        audio: null,
        function_call: null,
        reasoning: null,
        reasoning_content: null,
      },
      logprobs: logprobsOf(head, deltas),
      finish_reason: wireFinishReason(finish),
      stop_reason: finish?.stopReason ?? null,
      token_ids: format.returnTokenIds ? deltas.map(({ token }) => token.tokenId) : null,
    })),
    service_tier: null,
    system_fingerprint: fingerprint(answer),
    usage: { ...usageOf(answer.promptTokens.length, completionTokens), prompt_tokens_details: null },
    prompt_logprobs: null,
    prompt_token_ids: format.returnTokenIds ? answer.promptTokens : null,
    kv_transfer_params: null,
  };
}

/** The first chunk of a choice: who speaks, and nothing yet. Role goes out once: clients concatenate repeated ones. */
export function roleChunk(head: AnswerHead, index: number) {
  return {
    ...chunkHead(head),
    choices: [{ index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
    prompt_token_ids: head.format.returnTokenIds ? head.answer.promptTokens : null,
    ...continuousUsage(head, 0),
  };
}

/** `completionTokens` of this choice so far. The last text and the finish reason share a chunk, as in vLLM. */
export function deltaChunk(head: AnswerHead, delta: ChatDelta, completionTokens: number) {
  const { choiceIndex: index, text, finish, token } = delta;
  return {
    ...chunkHead(head),
    choices: [
      {
        index,
        delta: { content: text },
        logprobs: logprobsOf(head, [delta]),
        finish_reason: wireFinishReason(finish),
        ...(finish ? { stop_reason: finish.stopReason } : {}),
        token_ids: head.format.returnTokenIds ? [token.tokenId] : null,
      },
    ],
    ...continuousUsage(head, completionTokens),
  };
}

export const usageChunk = (head: AnswerHead, completionTokens: number) => ({
  ...chunkHead(head),
  choices: [],
  usage: usageOf(head.answer.promptTokens.length, completionTokens),
});

function chunkHead({ id, createdAtMs, answer }: AnswerHead) {
  return {
    id,
    object: 'chat.completion.chunk',
    created: seconds(createdAtMs),
    model: answer.model.servedName,
    system_fingerprint: fingerprint(answer),
  };
}

const continuousUsage = ({ format, answer }: AnswerHead, completionTokens: number) =>
  format.continuousUsage ? { usage: usageOf(answer.promptTokens.length, completionTokens) } : {};

/** `cancelled` without a client that left: the server stopped it. */
const wireFinishReason = (finish: Finish | null): string | null =>
  finish === null ? null : finish.reason === 'cancelled' ? 'abort' : finish.reason;

const LOGPROB_MIN = -9999; // JSON has no −∞; vLLM's stand-in

/** One entry per sampled token, the stop token included, so that the ids are exactly what was sampled. */
function logprobsOf({ answer, format }: AnswerHead, deltas: readonly ChatDelta[]) {
  if (!answer.logprobs) return null;
  const { tokenizer } = answer.model.base.text;
  const asIds = format.tokensAsTokenIds ?? answer.model.trainable;
  const entry = (tokenId: number, logprob: number) => ({
    token: asIds ? `token_id:${tokenId}` : tokenizer.tokenText(tokenId),
    logprob: Math.max(logprob, LOGPROB_MIN),
    bytes: bytesOf(tokenizer, tokenId),
  });
  return {
    content: deltas.map(({ token }) => ({
      ...entry(token.tokenId, token.logprob),
      top_logprobs: token.topLogprobs.map((top) => entry(top.tokenId, top.logprob)),
    })),
    refusal: null,
  };
}

const bytesOf = (tokenizer: { tokenBytes(id: number): Uint8Array }, tokenId: number): number[] =>
  Array.from(tokenizer.tokenBytes(tokenId));

/** Changes with whatever can change an answer: base model, adapter. */
function fingerprint({ model }: ChatAnswer): string {
  const parts = [model.base.id, model.base.createdAtMs, model.adapter?.id ?? ''];
  return `fp_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12)}`;
}

const seconds = (ms: number): number => Math.floor(ms / 1000);
