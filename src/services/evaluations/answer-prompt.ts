// Answers one prompt of an evaluation with a checkpoint: an ordinary chat request with the lowest rank, whose tokens are collected into
// one answer per sample.
import type { Caller } from '#domain/caller';
import type { ChatMessage, ToolCall } from '#domain/chat';
import { AppError, type ErrorCode } from '#domain/errors';
import type { EvaluationAnswer, EvaluationPrompt, EvaluationSettings, PromptAnswers } from '#domain/evaluation';
import type { Chat, ChatAnswer } from '../chat/chat.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import { collectChoices, type CollectedChoice } from '../chat/collected-choice.ts';
import { PLAIN_OUTPUT, PLAIN_PROMPT, PLAIN_SAMPLING_OPTIONS } from '../chat/plain-options.ts';

export interface PlacedPrompt {
  readonly index: number;
  readonly prompt: EvaluationPrompt;
  readonly settings: EvaluationSettings;
  /** The checkpoint's name in chat requests. */
  readonly model: string;
}

/** An error of this prompt and not of the server: the other prompts are still answered. */
const PROMPT_FAULTS: ReadonlySet<ErrorCode> = new Set(['context_length_exceeded', 'invalid_request', 'dead_end']);

/** Throws the errors of chat requests, except those that the prompt itself causes. */
export async function answerPrompt(
  chat: Chat,
  caller: Caller,
  placed: PlacedPrompt,
  {
    requestId,
    project,
    signal,
  }: { readonly requestId: string; readonly project: string; readonly signal: AbortSignal },
): Promise<PromptAnswers> {
  try {
    const context = { caller, project, requestId, signal, isBackground: true };
    return {
      answers: await collect(await chat.start(context, requestOf(placed)), placed.settings.samples),
      error: null,
    };
  } catch (error) {
    if (!(error instanceof AppError) || !PROMPT_FAULTS.has(error.code)) throw error;
    return { answers: [], error: error.message };
  }
}

function requestOf({ index, prompt, settings, model }: PlacedPrompt): ChatRequest {
  const { samples, maxTokens, temperature, topP, stop, seed, chatTemplateKwargs } = settings;
  return {
    model,
    messages: prompt.messages,
    tools: prompt.tools,
    toolChoice: { mode: prompt.tools ? 'auto' : 'none', callable: null },
    parallelToolCalls: true,
    prompt: { ...PLAIN_PROMPT, chatTemplateKwargs },
    sampling: {
      ...PLAIN_SAMPLING_OPTIONS,
      ...{ temperature, topP, stop, maxTokens },
      seed: seed + index * samples,
      cutToContext: true,
    },
    output: { ...PLAIN_OUTPUT, logprobs: true },
    n: samples,
    beamSearch: null,
    constraint: null,
    priority: 0,
    cacheSalt: null,
  };
}

async function collect({ role, deltas }: ChatAnswer, samples: number): Promise<EvaluationAnswer[]> {
  const choices = await collectChoices(deltas, samples);
  return choices.map((choice) => ({
    message: messageOf(role, choice),
    finishReason: choice.finish?.reason ?? '',
    tokenIds: Array.from(choice.tokens.ids),
    logprobs: Array.from(choice.tokens.logprobs),
  }));
}

/** As in a chat answer. */
function messageOf(role: string, { content, reasoning, calls }: CollectedChoice): ChatMessage {
  const toolCalls = calls.map(({ id, name, arguments: text }): ToolCall => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }));
  return {
    role,
    content: content === '' && toolCalls.length > 0 ? null : content,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
  };
}
