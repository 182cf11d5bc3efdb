// Chat: a conversation in, choices of text with their tokens out. Everything that can be refused is refused before the first token.
// api/chat/chat-response.ts has the wire format; answer.ts turns tokens into text.
import type { SamplingParams } from '#domain/sampling';
import type { GenerateRequest, TokenConstraint } from '#engine/inference-engine';
import { AppError } from '#domain/errors';
import { thinkingInPrompt, type ReasoningSyntax } from '#text/reasoning-parser';
import { HERMES, type ToolSyntax } from '#text/tool-parser';
import type { Recorder } from '../episodes/recorder.ts';
import { beginAnswer, type Answer, type AnswerDeps, type ChatContext } from './answer.ts';
import { beginCapture, reshapedByOf } from './capture.ts';
import { checkSampling } from './check-capabilities.ts';
import { checkListed } from './listed-alternatives.ts';
import type { ChatRequest, Conversation, RequestedConstraint } from './chat-request.ts';
import { primaryEos, type ChoiceTextOptions } from './choice-text.ts';
import { compileConstraint, type CompilingFor } from './compile-constraint.ts';
import { createConversationDigest, textOf } from './conversation-digest.ts';
import { checkPriority, resolveModel, servingOf, type ChatSettings, type ModelDeps } from './request-serving.ts';
import type { SampledModel } from '../models/models.ts';
import { buildPrompt, type Prompt } from './prompt.ts';
import { roomFor } from './room.ts';
import { remembering } from './remembering.ts';
import type { SampledTokens } from './sampled-tokens.ts';
import { samplingParams } from './sampling-params.ts';
import { endOfThinking, thinkingBudget } from './thinking.ts';
import type { PromptContext, TokenizedPrompt } from './tokenization.ts';
import { areCallsFree, toolConstraint } from './tool-constraint.ts';

export interface ChatAnswer extends Answer {
  readonly role: string;
  /** Prefix of the answer: the last message, if the client wants it repeated and its role is the same. */
  readonly echo: string;
  readonly logprobs: boolean;
}

export interface Chat {
  /**
   * Throws `model_not_found`, `invalid_request`, `invalid_constraint`, `context_length_exceeded`, `too_many_requests`; its deltas throw what
   * engines throw.
   */
  start(context: ChatContext, request: ChatRequest): Promise<ChatAnswer>;
  /** Validates everything that `start` would refuse. Nothing is generated. */
  check(context: ChatContext, request: ChatRequest): Promise<SampledModel>;
  /** The prompt tokens that `start` would use; generates nothing, and may leave no room for an answer. Throws as `start`. */
  prompt(context: PromptContext, conversation: Conversation): Promise<TokenizedPrompt>;
}

export interface ChatDeps extends AnswerDeps, ModelDeps {
  readonly sampledTokens: SampledTokens;
  readonly recorder: Recorder;
  /** Whether requests may bring a chat template of their own. */
  readonly acceptsTemplates: boolean;
  readonly settings: ChatSettings;
}

export function createChat({ sampledTokens, acceptsTemplates, settings, ...deps }: ChatDeps): Chat {
  async function readPrompt(
    { caller, signal }: PromptContext,
    model: SampledModel,
    conversation: Conversation,
    answerRoom: number,
  ) {
    const { text, inference, id } = model.base;
    const contextLength = Math.min(text.contextLength, inference.contextLength);
    const by = { payer: caller.keyId, signal };
    const prompt = await buildPrompt(
      { acceptsTemplates },
      text,
      conversation,
      { modelId: id, contextLength, answerRoom },
      by,
    );
    return { prompt, contextLength, by };
  }

  /** Everything that the engine needs; nothing runs yet. */
  async function plan(context: ChatContext, request: ChatRequest) {
    checkPriority(request, settings);
    const model = await resolveModel(deps, context, request.model);
    const answerRoom = Math.max(1, request.sampling.maxTokens ?? 1);
    const { prompt, contextLength, by } = await readPrompt(context, model, request, answerRoom);
    const { text, capabilities, inference } = model.base;
    const room = roomFor(request.sampling, prompt.tokens.length, contextLength, request.prompt.name);
    const choice = choiceOptions(model, request, prompt);
    const sampling: SamplingParams = {
      ...samplingParams(request, text, room, settings.logprobsMax),
      thinkingBudget: thinkingBudget(request.sampling, choice.reasoning, text.tokenizer),
    };
    checkSampling(sampling, capabilities);
    checkListed(
      [{ n: request.n, promptTokens: prompt.tokens, sampling }],
      inference.vocabSize,
      request.output.topLogprobsField,
    );
    const constraint = await prepareConstraint(model, request, choice, by);
    const generate: GenerateRequest = {
      requestId: context.requestId,
      promptTokens: prompt.tokens,
      adapter: model.adapter,
      sampling,
      n: request.n,
      constraint,
      ...servingOf(context, request),
    };
    return { model, prompt, choice, generate };
  }

  return {
    async start(context, request) {
      const { model, prompt, choice, generate } = await plan(context, request);
      const { modelId } = model;
      const conversation = createConversationDigest(request.messages).read();
      const reshapedBy = reshapedByOf(generate, request.beamSearch);
      const captureFor = await beginCapture(deps.recorder, context, model, [generate]);

      return {
        ...beginAnswer(deps, context, {
          model,
          generate,
          choice,
          beamSearch: request.beamSearch,
          remember: remembering(sampledTokens, context, model, { generate, conversation, reshapedBy }),
          capture: captureFor?.({ generate, beamSearch: request.beamSearch, asked: request }) ?? null,
        }),
        role: prompt.role,
        echo: request.output.echo && request.messages.at(-1)?.role === prompt.role ? lastText(request) : '',
        logprobs: request.output.logprobs ?? modelId !== null,
      };
    },

    check: async (context, request) => (await plan(context, request)).model,

    async prompt(context, conversation) {
      const model = await deps.models.resolve(context.caller, conversation.model);
      const { prompt } = await readPrompt(context, model, conversation, 0);
      return { model, tokens: prompt.tokens };
    },
  };
}

/** How the tokens of the choices are parsed. */
function choiceOptions({ base: { text } }: SampledModel, request: ChatRequest, prompt: Prompt): ChoiceTextOptions {
  const { sampling, output, toolChoice, tools } = request;
  const { reasoningSyntax, toolSyntax, eosTokenIds } = text;
  if (toolChoice.mode === 'auto' && tools && toolSyntax === null) {
    const message =
      "This model's chat template does not support tool calls. Leave tools out, set tool_choice to required, or start the server with --tool-call-parser.";
    throw new AppError('invalid_request', message, { param: 'tool_choice' });
  }
  return {
    // Beams are whole texts: only the model's end token ends them.
    stops: request.beamSearch ? [] : sampling.stop,
    includeStop: output.includeStop,
    minTokens: sampling.minTokens,
    skipSpecialTokens: output.skipSpecialTokens,
    primaryEos: primaryEos(sampling, eosTokenIds),
    reasoning: reasoningSyntax && {
      syntax: reasoningSyntax,
      state: continuesThinking(request, reasoningSyntax) ? 'open' : thinkingInPrompt(prompt.text, reasoningSyntax),
      include: output.includeReasoning,
    },
    tools:
      tools && toolChoice.mode !== 'none'
        ? {
            syntax: toolSyntax ?? HERMES,
            definitions: tools,
            parallel: request.parallelToolCalls,
            isForced: toolChoice.mode !== 'auto',
            areFree: request.constraint === null && areCallsFree(toolChoice, tools),
            finishes: toolChoice.mode !== 'named', // not the model's choice: OpenAI reports `stop`
          }
        : null,
  };
}

/** Whether the final message continues inside a reasoning block. */
function continuesThinking(request: ChatRequest, { start, end }: ReasoningSyntax): boolean {
  const text = request.prompt.continueFinalMessage ? lastText(request) : '';
  return text.includes(start) && !text.includes(end);
}

/** Compiled before the answer begins. It applies after the reasoning if the prompt leaves a reasoning block open. */
async function prepareConstraint(
  model: SampledModel,
  request: ChatRequest,
  { reasoning, tools: parsed }: ChoiceTextOptions,
  by: CompilingFor,
): Promise<TokenConstraint | null> {
  const chosen = chooseConstraint(request, parsed?.syntax ?? null);
  if (chosen === null) return null;
  try {
    await compileConstraint(model, chosen, by);
  } catch (error) {
    const isJoined = chosen.constraint.kind === 'either';
    if (isJoined && request.constraint) await compileConstraint(model, request.constraint, by); // so that an error in the format names the format
    throw error;
  }
  return { constraint: chosen.constraint, afterTokenId: endOfThinking(reasoning, model.base.text.tokenizer) };
}

/** A forced call takes precedence over the format of an answer, in whatever API; where calls are optional, the model chooses between the two. */
function chooseConstraint(
  { constraint: requested, toolChoice, tools, parallelToolCalls }: ChatRequest,
  syntax: ToolSyntax | null,
): RequestedConstraint | null {
  if (!syntax || !tools) return requested;
  const isAuto = toolChoice.mode === 'auto';
  // A structural tag itself says where calls may appear.
  if (isAuto && requested?.constraint.kind === 'structural_tag') return requested;
  const form = isAuto ? (requested?.constraint ?? null) : null;
  const calls = toolConstraint(toolChoice, tools, syntax, parallelToolCalls, form);
  if (requested === null || calls === null) return requested ?? (calls && { constraint: calls, param: 'tools' });
  if (isAuto) return { constraint: calls, param: 'tools' };
  if (requested.param !== 'structured_outputs') return { constraint: calls, param: 'tools' };
  const message = `tool_choice forces a call, and ${requested.param} constrains the answer. Send one of them.`;
  throw new AppError('invalid_request', message, { param: requested.param });
}

const lastText = ({ messages }: ChatRequest): string => textOf(messages.at(-1)?.content);
