// Turns messages into prompt tokens: chat template with the request's variables, tokenization, truncation. Errors here come before
// anything is generated.
import { asPythonKnows } from '#base/python-form';
import { AppError } from '#domain/errors';
import type { ChatTemplate } from '#text/chat-template';
import { renderRequestTemplate } from '#text/request-template';
import type { TextModel } from '#text/text-model';
import type { OnBehalf } from '#text/text-queue';
import type { Conversation, PromptOptions } from './chat-request.ts';
import { textOf } from './conversation-digest.ts';
import { refuseLongText } from './room.ts';

export interface Prompt {
  readonly text: string;
  readonly tokens: readonly number[];
  /** The role that speaks next: the assistant, or the last role if no turn was begun. */
  readonly role: string;
}

export interface PromptDeps {
  /** Whether requests may bring a template of their own. */
  readonly acceptsTemplates: boolean;
}

/** `modelId` is for messages. `answerRoom`: tokens that truncation leaves free at least. */
export async function buildPrompt(
  { acceptsTemplates }: PromptDeps,
  model: TextModel,
  request: Omit<Conversation, 'model'>,
  { modelId, contextLength, answerRoom }: { modelId: string; contextLength: number; answerRoom: number },
  by: OnBehalf,
): Promise<Prompt> {
  const { chatTemplate, tokenizer, namedTokens, prompts } = model;
  const { messages, tools, prompt: options } = request;
  refuseHiddenFields(options, acceptsTemplates);
  /** A template that came with the request; the name of one of the model's own is none. */
  const brought = chatTemplate?.names.includes(options.chatTemplate ?? '') ? null : options.chatTemplate;
  const addGenerationPrompt = options.addGenerationPrompt ?? !options.continueFinalMessage;
  const render = {
    messages,
    tools,
    addGenerationPrompt,
    continueFinalMessage: options.continueFinalMessage,
    mergesSystem: options.mergesSystem,
    template: brought === null ? options.chatTemplate : null,
    variables: templateVariables(options, brought === null ? chatTemplate : null),
  };
  const charactersMax = options.truncatePromptTokens === null ? contextLength * tokenizer.tokenCharactersMax : Infinity;
  const refuseLonger = (characters: number) => refuseLongText(characters, charactersMax, contextLength, options.name);
  refuseLonger(messages.reduce((sum, { content }) => sum + textOf(content).length, 0));
  let prompt: string | typeof render = render;
  if (brought !== null) {
    if (!acceptsTemplates) refuseTemplate();
    prompt = renderRequestTemplate(brought, namedTokens, render);
  } else if (!chatTemplate) {
    const message = `\`${modelId}\` has no chat template, so it cannot answer conversations. Send text or token ids to /v1/completions, or have the server started with --chat-template FILE.`;
    throw new AppError('invalid_request', message, { param: 'model' });
  }
  const { addSpecialTokens } = options;
  const { text, tokens: all } = await prompts.make({ prompt, addSpecialTokens, charactersMax }, by);
  refuseLonger(text.length);
  const tokens = truncate(all ?? [], options, contextLength, answerRoom);
  if (tokens.length === 0)
    throw new AppError('invalid_request', 'The chat template renders these messages as an empty prompt.', {
      param: options.name,
    });
  return { text, tokens, role: addGenerationPrompt ? 'assistant' : (messages.at(-1)?.role ?? 'assistant') };
}

/**
 * Drops unknown names unless the template reads them, and null, which means the template's default. A field of the request that has the
 * same name comes first, as in vLLM; whether to think is the template's own variable, so that it comes before the effort.
 */
function templateVariables(options: PromptOptions, template: ChatTemplate | null): Record<string, unknown> {
  const { chatTemplateKwargs, documents, reasoningEffort } = options;
  const known = Object.entries(chatTemplateKwargs).filter(
    ([name, value]) => value !== null && (template === null || template.accepts(name)),
  );
  const variables = {
    ...(reasoningEffort === null ? {} : { enable_thinking: reasoningEffort !== 'none' }),
    ...Object.fromEntries(known),
    ...(documents === null ? {} : { documents }),
    ...(reasoningEffort === null ? {} : { reasoning_effort: reasoningEffort }),
  };
  return asPythonKnows(variables, chatTemplateKwargs);
}

/** Fields of the request that a variable of the same name would not change. */
const OWN_FIELDS = ['messages', 'tools', 'continue_final_message'];

function refuseHiddenFields({ chatTemplateKwargs }: PromptOptions, acceptsTemplates: boolean): void {
  const own = OWN_FIELDS.find((name) => (chatTemplateKwargs[name] ?? false) !== false);
  if (own !== undefined)
    throw new AppError('invalid_request', `Send ${own} as a field of the request, not inside chat_template_kwargs.`, {
      param: 'chat_template_kwargs',
    });
  if (!('chat_template' in chatTemplateKwargs)) return;
  if (!acceptsTemplates) refuseTemplate();
  throw new AppError('invalid_request', 'Send the template as chat_template, not inside chat_template_kwargs.', {
    param: 'chat_template_kwargs',
  });
}

function refuseTemplate(): never {
  const message =
    'This server does not accept chat templates in requests. Omit chat_template, or start the server with --trust-request-chat-template.';
  throw new AppError('invalid_request', message, { param: 'chat_template' });
}

/** Throws `invalid_request`. `answerRoom`: tokens to leave free at least. */
export function truncate(
  tokens: readonly number[],
  { truncatePromptTokens: keep, truncationSide }: Pick<PromptOptions, 'truncatePromptTokens' | 'truncationSide'>,
  contextLength: number,
  answerRoom: number,
): readonly number[] {
  if (keep === null) return tokens;
  if (keep === 0 || keep > contextLength) {
    const message = `truncate_prompt_tokens must be -1 or between 1 and the context of ${contextLength} tokens, got ${keep}.`;
    throw new AppError('invalid_request', message, { param: 'truncate_prompt_tokens' });
  }
  const count = keep === -1 ? Math.max(1, contextLength - answerRoom) : Number(keep);
  return truncationSide === 'left' ? tokens.slice(-count) : tokens.slice(0, count);
}
