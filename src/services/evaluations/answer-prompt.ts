// Answers one prompt of an evaluation with a checkpoint: an ordinary chat request with the lowest rank, whose tokens are collected into
// one answer per sample.
import type { Caller } from '#domain/caller';
import type { ChatMessage, ToolCall } from '#domain/chat';
import { AppError, type ErrorCode } from '#domain/errors';
import type { EvaluationAnswer, EvaluationPrompt, EvaluationSettings, PromptAnswers } from '#domain/evaluation';
import type { Chat, ChatAnswer } from '../chat/chat.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
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
    return { answers: await collect(await chat.start(context, requestOf(placed))), error: null };
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

interface Said {
  content: string;
  reasoning: string;
  readonly calls: { id: string; name: string; arguments: string }[];
  finishReason: string;
  readonly tokenIds: number[];
  readonly logprobs: number[];
}

async function collect({ role, deltas }: ChatAnswer): Promise<EvaluationAnswer[]> {
  const choices: Said[] = [];
  for await (const { choiceIndex, token, content, reasoning, toolCalls, finish } of deltas) {
    const said = (choices[choiceIndex] ??= {
      content: '',
      reasoning: '',
      calls: [],
      finishReason: '',
      tokenIds: [],
      logprobs: [],
    });
    if (token) {
      said.tokenIds.push(token.tokenId);
      said.logprobs.push(token.logprob);
    }
    said.content += content;
    said.reasoning += reasoning;
    for (const { index, id = '', name = '', arguments: text = '' } of toolCalls) {
      const call = (said.calls[index] ??= { id: '', name: '', arguments: '' });
      call.id += id;
      call.name += name;
      call.arguments += text;
    }
    if (finish) said.finishReason = finish.reason;
  }
  return choices.map(({ finishReason, tokenIds, logprobs, ...said }) => ({
    message: messageOf(role, said),
    finishReason,
    tokenIds,
    logprobs,
  }));
}

/** As in a chat answer. */
function messageOf(
  role: string,
  { content, reasoning, calls }: Pick<Said, 'content' | 'reasoning' | 'calls'>,
): ChatMessage {
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
