// A conversation in, choices of text with their tokens out. Everything that can be refused is refused before the first
// token; what the wire looks like is api/schema/chat-response.ts.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import { dayUtcAt, type RequestUse } from '#domain/usage';
import type { GenerateRequest, PromptReport, TokenConstraint, TokenEvent } from '#engine/inference-engine';
import { thinkingInPrompt, type ReasoningSyntax } from '#text/reasoning-parser';
import type { TemplateSandbox } from '#text/template-sandbox/template-sandbox';
import { HERMES } from '#text/tool-parser';
import type { AccountLimits } from './account-limits.ts';
import { searchBeams } from './beam-search.ts';
import type { ChatRequest } from './chat-request.ts';
import { createChoiceText, type ChoiceTextOptions, type TextDelta } from './choice-text.ts';
import type { Models, SampledModel } from './models.ts';
import { buildPrompt, type Prompt } from './prompt.ts';
import type { SampledTokens } from './sampled-tokens.ts';
import { samplingParams } from './sampling-params.ts';
import { generateSteadily } from './steady-generation.ts';
import { toolConstraint } from './tool-constraint.ts';

/** One sampled token and the text it completed. */
export interface ChatDelta extends TextDelta {
  readonly choiceIndex: number;
  readonly token: TokenEvent;
}

export interface ChatAnswer {
  readonly model: SampledModel;
  readonly promptTokens: readonly number[];
  /** Known with the first delta. */
  readonly prompt: { report: PromptReport | null };
  readonly role: string;
  /** What the answer begins with, where the client wants the last message repeated. */
  readonly echo: string;
  readonly logprobs: boolean;
  /** Ends when every choice has its finish. Leaving the loop stops the generation. */
  readonly deltas: AsyncIterable<ChatDelta>;
}

export interface ChatContext {
  readonly caller: Caller;
  /** For the accounts; empty: none was named. */
  readonly project: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

export interface Chat {
  /**
   * Throws `model_not_found`, `invalid_request`, `invalid_constraint`, `context_length_exceeded`, `too_many_requests`; its deltas throw what
   * engines throw.
   */
  start(context: ChatContext, request: ChatRequest): Promise<ChatAnswer>;
}

export interface ChatSettings {
  /** Requests may go before others by their `priority`. */
  readonly priorities: boolean;
  /** Alternatives per token that a request may ask for; −1: no limit. */
  readonly logprobsMax: number;
}

export interface ChatDeps {
  readonly models: Models;
  readonly sampledTokens: SampledTokens;
  /** Called once per request that began, however it ends. */
  readonly recordUsage: (use: RequestUse) => void;
  /** Null: chat templates of requests are not trusted. */
  readonly sandbox: TemplateSandbox | null;
  readonly settings: ChatSettings;
  readonly limits: Pick<AccountLimits, 'checkTokens'>;
  readonly clock: Clock;
  readonly log: Log;
}

export function createChat({
  models,
  sampledTokens,
  recordUsage,
  sandbox,
  settings,
  limits,
  clock,
  log,
}: ChatDeps): Chat {
  /** All that the engine needs; nothing runs yet. */
  async function plan({ caller, requestId, signal }: ChatContext, request: ChatRequest) {
    checkPriority(request, settings);
    await limits.checkTokens(caller);
    const model = await models.resolve(caller, request.model);
    const { text, inference, id } = model.base;
    const contextLength = Math.min(text.contextLength, inference.contextLength);
    const answerRoom = Math.max(1, request.sampling.maxTokens ?? 1);
    const prompt = await buildPrompt({ sandbox }, text, request, { modelId: id, contextLength, answerRoom }, signal);
    const room = roomFor(request, prompt.tokens.length, contextLength);
    const choice = choiceOptions(model, request, prompt);
    const constraint = await prepareConstraint(model, request, choice, signal);
    const generate: GenerateRequest = {
      requestId,
      promptTokens: prompt.tokens,
      adapter: model.adapter,
      sampling: samplingParams(request, text, room, settings.logprobsMax),
      n: request.n,
      constraint,
      priority: request.priority,
      payer: caller.keyId,
      cacheScope: JSON.stringify([caller.entity, request.cacheSalt]),
    };
    return { model, prompt, choice, generate };
  }

  return {
    async start(context, request) {
      const { model, prompt, choice, generate } = await plan(context, request);
      const { inference, text } = model.base;
      const stream = request.beamSearch
        ? searchBeams(inference, generate, request.beamSearch, context.signal)
        : generateSteadily(inference, generate, log, context.signal);
      const answered: ChatAnswer['prompt'] = { report: null };

      /** For training: clients may lose what the tokens were. */
      function remember(tokens: readonly SaidToken[]): void {
        sampledTokens.remember(
          { entity: context.caller.entity, baseModel: model.base.id, promptTokens: prompt.tokens, ...textOf(tokens) },
          {
            tokenIds: Int32Array.from(tokens, ({ token }) => token.tokenId),
            logprobs: Float32Array.from(tokens, ({ token }) => token.logprob),
          },
        );
      }

      async function* deltas(): AsyncGenerator<ChatDelta> {
        const choices = Array.from({ length: request.n }, () => createChoiceText(text.tokenizer, choice));
        const said = choices.map((): SaidToken[] => []);
        let completionTokens = 0;
        try {
          for await (const token of stream) {
            completionTokens++;
            answered.report = token.prompt ?? answered.report;
            const { choiceIndex } = token;
            const delta = choices[choiceIndex]!.push(token);
            if (delta.finish && token.finishReason === null) stream.cancelChoice(choiceIndex); // a stop string ended it
            if (model.trainable) said[choiceIndex]!.push({ token, delta });
            if (model.trainable && delta.finish) remember(said[choiceIndex]!);
            yield { choiceIndex, token, ...delta };
          }
        } finally {
          recordUsage({
            entity: context.caller.entity,
            keyId: context.caller.keyId,
            project: context.project,
            model: model.servedName,
            dayUtc: dayUtcAt(clock.now()),
            promptTokens: prompt.tokens.length,
            cachedTokens: answered.report?.cachedTokenCount ?? 0,
            completionTokens,
          });
        }
      }

      return {
        model,
        promptTokens: prompt.tokens,
        prompt: answered,
        role: prompt.role,
        echo: request.output.echo ? lastText(request) : '',
        logprobs: request.output.logprobs ?? model.trainable,
        deltas: deltas(),
      };
    },
  };
}

interface SaidToken {
  readonly token: TokenEvent;
  readonly delta: TextDelta;
}

function textOf(tokens: readonly SaidToken[]): { content: string; calls: { name: string; arguments: string }[] } {
  const calls: { name: string; arguments: string }[] = [];
  for (const { index, name, arguments: text = '' } of tokens.flatMap(({ delta }) => delta.toolCalls)) {
    calls[index] ??= { name: name ?? '', arguments: '' };
    calls[index].arguments += text;
  }
  return { content: tokens.map(({ delta }) => delta.content).join(''), calls };
}

function checkPriority({ priority }: ChatRequest, { priorities }: ChatSettings): void {
  if (priority === 0 || priorities) return;
  const message = `priority ${priority} has no effect under first come, first served. Leave it out, or start the server with --scheduling-policy priority.`;
  throw new AppError('invalid_request', message, { param: 'priority' });
}

/** Tokens that may be sampled. An explicit limit is never cut silently. */
function roomFor({ sampling }: ChatRequest, promptLength: number, contextLength: number): number {
  const room = contextLength - promptLength;
  const fault =
    room <= 0
      ? { what: `your messages have ${promptLength} tokens, which leaves no room for an answer`, param: 'messages' }
      : sampling.maxTokens !== null && sampling.maxTokens > room
        ? {
            what: `you asked for ${sampling.maxTokens} tokens after messages of ${promptLength}`,
            param: sampling.maxTokensField,
          }
        : null;
  if (!fault) return room;
  const message = `This model's maximum context length is ${contextLength} tokens, but ${fault.what}. Shorten the messages or the answer.`;
  throw new AppError('context_length_exceeded', message, { param: fault.param });
}

/** How the choices' tokens are read. */
function choiceOptions({ base: { text } }: SampledModel, request: ChatRequest, prompt: Prompt): ChoiceTextOptions {
  const { sampling, output, toolChoice, tools } = request;
  const { reasoningSyntax, toolSyntax, eosTokenIds } = text;
  if (toolChoice === 'auto' && tools && toolSyntax === null) {
    const message = "This model's chat template knows no tool calls. Leave tools out, or set tool_choice to required.";
    throw new AppError('invalid_request', message, { param: 'tool_choice' });
  }
  return {
    // Beams are whole texts: nothing ends them but the end of the model's text.
    stops: request.beamSearch ? [] : sampling.stop,
    includeStop: output.includeStop,
    minTokens: sampling.minTokens,
    skipSpecialTokens: output.skipSpecialTokens,
    primaryEos: eosTokenIds[0] ?? null,
    reasoning: reasoningSyntax && {
      syntax: reasoningSyntax,
      state: continuesThinking(request, reasoningSyntax) ? 'open' : thinkingInPrompt(prompt.text, reasoningSyntax),
      include: output.includeReasoning,
    },
    tools:
      tools && toolChoice !== 'none'
        ? {
            syntax: toolSyntax ?? HERMES,
            parallel: request.parallelToolCalls,
            finishes: typeof toolChoice === 'string', // a named call was no choice of the model's: OpenAI says `stop`
          }
        : null,
  };
}

/** The final message is continued in the middle of a thought. */
function continuesThinking(request: ChatRequest, { start, end }: ReasoningSyntax): boolean {
  const text = request.prompt.continueFinalMessage ? lastText(request) : '';
  return text.includes(start) && !text.includes(end);
}

/** Compiled before the answer begins. It holds behind the thinking, where the prompt leaves that open. */
async function prepareConstraint(
  { base: { inference, text } }: SampledModel,
  { constraint: requested, toolChoice, tools, parallelToolCalls }: ChatRequest,
  { reasoning, tools: parsed }: ChoiceTextOptions,
  signal: AbortSignal,
): Promise<TokenConstraint | null> {
  const forced = parsed && tools ? toolConstraint(toolChoice, tools, parsed.syntax, parallelToolCalls) : null;
  if (forced && requested) {
    const message = `tool_choice forces a call, and ${requested.param} constrains the answer. Send one of them.`;
    throw new AppError('invalid_request', message, { param: requested.param });
  }
  const constraint = forced ?? requested?.constraint ?? null;
  if (constraint === null) return null;
  const param = requested?.param ?? 'tools';
  try {
    await inference.prepare(constraint, signal);
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_constraint')
      throw new AppError(error.code, error.message, { cause: error.cause, param });
    throw error;
  }
  const afterTokenId = reasoning?.state === 'open' ? text.tokenizer.tokenId(reasoning.syntax.end) : null;
  return { constraint, afterTokenId };
}

function lastText({ messages }: ChatRequest): string {
  const content = messages.at(-1)?.content ?? '';
  if (typeof content === 'string') return content;
  return content.map((part) => (typeof part.text === 'string' ? part.text : '')).join('\n');
}
