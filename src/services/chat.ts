// A conversation in, choices of text with their tokens out. Everything that can be refused is refused before the first
// token; what the wire looks like is api/schema/chat-response.ts.
import { randomInt } from 'node:crypto';
import type { Log } from '#base/log';
import type { Caller } from '#domain/caller';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import { AppError } from '#domain/errors';
import type { SamplingParams } from '#domain/sampling';
import type { TokenEvent } from '#engine/inference-engine';
import type { GenerationDefaults, TextModel } from '#text/text-model';
import { createChoiceText, type Finish } from './choice-text.ts';
import type { Models, SampledModel } from './models.ts';
import { generateSteadily } from './steady-generation.ts';

/** Null: the model's default. Ranges were checked at the edge. */
export interface ChatRequest {
  /** Null: the server's default. */
  readonly model: string | null;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[] | null;
  readonly n: number;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly seed: number | null;
  readonly maxTokens: number | null;
  /** For error messages: what the client called it. */
  readonly maxTokensField: string;
  readonly stop: readonly string[];
  /** Null: on for trainable models, whose rollouts need them. */
  readonly logprobs: boolean | null;
  readonly topLogprobs: number;
}

/** One sampled token and the text it completed. */
export interface ChatDelta {
  readonly choiceIndex: number;
  readonly text: string;
  readonly token: TokenEvent;
  /** Set on the last delta of a choice. */
  readonly finish: Finish | null;
}

export interface ChatAnswer {
  readonly model: SampledModel;
  readonly promptTokens: readonly number[];
  readonly logprobs: boolean;
  /** Ends when every choice has its finish. Leaving the loop stops the generation. */
  readonly deltas: AsyncIterable<ChatDelta>;
}

export interface Chat {
  /** Throws `model_not_found`, `invalid_request`, `context_length_exceeded`; its deltas throw what engines throw. */
  start(caller: Caller, request: ChatRequest, requestId: string, signal: AbortSignal): Promise<ChatAnswer>;
}

export function createChat(models: Models, log: Log): Chat {
  return {
    async start(caller, request, requestId, signal) {
      const model = await models.resolve(caller, request.model);
      const { text, inference } = model.base;
      const promptTokens = renderPrompt(text, request, model.base.id);
      const contextLength = Math.min(text.contextLength, inference.contextLength);
      const sampling = samplingParams(request, text, roomFor(request, promptTokens.length, contextLength));
      const stream = generateSteadily(
        inference,
        { requestId, promptTokens, adapter: model.adapter, sampling, n: request.n },
        log,
        signal,
      );

      async function* deltas(): AsyncGenerator<ChatDelta> {
        const choices = Array.from({ length: request.n }, () =>
          createChoiceText(text.tokenizer, request.stop, text.eosTokenIds[0] ?? null),
        );
        for await (const token of stream) {
          const { choiceIndex } = token;
          const { text: shown, finish } = choices[choiceIndex]!.push(token);
          if (finish && token.finishReason === null) stream.cancelChoice(choiceIndex); // a stop string ended it
          yield { choiceIndex, text: shown, token, finish };
        }
      }

      return { model, promptTokens, logprobs: request.logprobs ?? model.trainable, deltas: deltas() };
    },
  };
}

function renderPrompt({ chatTemplate, tokenizer }: TextModel, { messages, tools }: ChatRequest, id: string): number[] {
  if (!chatTemplate) {
    throw new AppError('invalid_request', `\`${id}\` has no chat template, so it cannot answer conversations.`, {
      param: 'model',
    });
  }
  const promptTokens = tokenizer.encode(chatTemplate.render({ messages, tools, addGenerationPrompt: true }));
  if (promptTokens.length > 0) return promptTokens;
  throw new AppError('invalid_request', 'These messages give an empty prompt.', { param: 'messages' });
}

/** Tokens that may be sampled. An explicit limit is never cut silently. */
function roomFor(request: ChatRequest, promptLength: number, contextLength: number): number {
  const room = contextLength - promptLength;
  const fault =
    room <= 0
      ? { what: `your messages have ${promptLength} tokens, which leaves no room for an answer`, param: 'messages' }
      : request.maxTokens !== null && request.maxTokens > room
        ? {
            what: `you asked for ${request.maxTokens} tokens after messages of ${promptLength}`,
            param: request.maxTokensField,
          }
        : null;
  if (!fault) return room;
  const message = `This model's maximum context length is ${contextLength} tokens, but ${fault.what}. Shorten the messages or the answer.`;
  throw new AppError('context_length_exceeded', message, { param: fault.param });
}

function samplingParams(
  request: ChatRequest,
  { generationDefaults: defaults, eosTokenIds }: TextModel,
  room: number,
): SamplingParams {
  return {
    temperature: request.temperature ?? defaults.temperature ?? 1,
    topP: request.topP ?? defaults.topP ?? 1,
    topK: request.topK ?? defaultTopK(defaults),
    // Drawn here and not by the engine, so that a generation can be repeated after a restart.
    seed: request.seed ?? randomInt(2 ** 47),
    maxTokens: request.maxTokens ?? Math.min(room, defaults.maxNewTokens ?? room),
    stopTokenIds: eosTokenIds,
    topLogprobs: request.topLogprobs,
  };
}

/** Some models write -1 for off. */
const defaultTopK = ({ topK }: GenerationDefaults): number => Math.max(0, topK ?? 0);
