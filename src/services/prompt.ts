// Messages → prompt tokens: the chat template with the variables of the request, tokens, truncation. What is refused here
// is refused before anything is generated.
import { AppError } from '#domain/errors';
import type { ChatTemplate } from '#text/chat-template';
import type { TemplateSandbox } from '#text/template-sandbox/template-sandbox';
import type { TextModel } from '#text/text-model';
import type { ChatRequest, PromptOptions } from './chat-request.ts';

export interface Prompt {
  readonly text: string;
  readonly tokens: readonly number[];
  /** Who speaks next: the assistant, or where no turn was begun, whoever spoke last. */
  readonly role: string;
}

export interface PromptDeps {
  /** Null: templates of requests are not trusted. */
  readonly sandbox: TemplateSandbox | null;
}

/** `modelId` is for messages. `answerRoom`: tokens that truncation leaves free at least. */
export async function buildPrompt(
  { sandbox }: PromptDeps,
  { chatTemplate, tokenizer, namedTokens }: TextModel,
  request: Pick<ChatRequest, 'messages' | 'tools' | 'prompt'>,
  { modelId, contextLength, answerRoom }: { modelId: string; contextLength: number; answerRoom: number },
  signal: AbortSignal,
): Promise<Prompt> {
  const { messages, tools, prompt: options } = request;
  refuseHiddenTemplate(options, sandbox);
  const addGenerationPrompt = options.addGenerationPrompt ?? !options.continueFinalMessage;
  const render = {
    messages,
    tools,
    addGenerationPrompt,
    continueFinalMessage: options.continueFinalMessage,
    variables: templateVariables(options, options.chatTemplate === null ? chatTemplate : null),
  };
  let text: string;
  if (options.chatTemplate !== null) {
    if (sandbox === null) refuseTemplate();
    text = await sandbox.render(options.chatTemplate, namedTokens, render, signal);
  } else if (chatTemplate) text = chatTemplate.render(render);
  else {
    const message = `\`${modelId}\` has no chat template, so it cannot answer conversations.`;
    throw new AppError('invalid_request', message, { param: 'model' });
  }
  const all = tokenizer.encode(text, { addSpecialTokens: options.addSpecialTokens });
  const tokens = truncate(all, options.truncatePromptTokens, contextLength, answerRoom);
  if (tokens.length === 0)
    throw new AppError('invalid_request', 'These messages give an empty prompt.', { param: 'messages' });
  return { text, tokens, role: addGenerationPrompt ? 'assistant' : (messages.at(-1)?.role ?? 'assistant') };
}

/** Unknown names are dropped unless the template reads them. */
function templateVariables(options: PromptOptions, template: ChatTemplate | null): Record<string, unknown> {
  const { chatTemplateKwargs, documents, reasoningEffort } = options;
  const known = Object.entries(chatTemplateKwargs).filter(([name]) => template === null || template.accepts(name));
  const effort =
    reasoningEffort === null ? {} : { reasoning_effort: reasoningEffort, enable_thinking: reasoningEffort !== 'none' };
  return { ...(documents === null ? {} : { documents }), ...effort, ...Object.fromEntries(known) };
}

function refuseHiddenTemplate({ chatTemplateKwargs }: PromptOptions, sandbox: TemplateSandbox | null): void {
  if (!('chat_template' in chatTemplateKwargs)) return;
  if (sandbox === null) refuseTemplate();
  throw new AppError('invalid_request', 'Send the template as chat_template, not inside chat_template_kwargs.', {
    param: 'chat_template_kwargs',
  });
}

function refuseTemplate(): never {
  const message =
    'This server does not take chat templates from requests. Leave chat_template out, or start the server with --trust-request-chat-template.';
  throw new AppError('invalid_request', message, { param: 'chat_template' });
}

/** Keeps the end, where the question is. */
function truncate(tokens: number[], keep: number | null, contextLength: number, answerRoom: number): number[] {
  if (keep === null) return tokens;
  if (keep === 0 || keep > contextLength) {
    const message = `truncate_prompt_tokens must be -1 or between 1 and the context of ${contextLength} tokens, got ${keep}.`;
    throw new AppError('invalid_request', message, { param: 'truncate_prompt_tokens' });
  }
  const count = keep === -1 ? Math.max(1, contextLength - answerRoom) : keep;
  return tokens.slice(-count);
}
