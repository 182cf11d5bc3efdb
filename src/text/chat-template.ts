// Renders messages into the prompt text that a model was trained on, with its Jinja template. Follows Transformers' apply_chat_template, so
// that prompts equal those of the model's makers. chat-template-files.ts finds the templates; jinja/ runs them.
import { nonEmpty } from '#base/non-empty';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import type { Clock } from '#base/clock';
import { AppError } from '#domain/errors';
import { BLOCK_MARKS, readBlocks, type RenderedBlocks } from './generation-blocks.ts';
import type { BudgetLimits } from './jinja/budget.ts';
import { compileJinja, runJinja, type JinjaFunction, type Program } from './jinja/jinja.ts';
import { jinjaNodes } from './jinja/syntax.ts';
import { strftime } from './strftime.ts';
import { templateMessages, type TemplateMessage } from './template-messages.ts';
import { readTemplateTraits, type TemplateTraits } from './template-traits.ts';
import { createUnreadArguments, type UnreadArguments } from './unread-arguments.ts';

export interface RenderRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[] | null | undefined;
  /** Ends with the beginning of an assistant turn. */
  readonly addGenerationPrompt: boolean;
  /** Ends inside the last message, right after its content, which the model continues. */
  readonly continueFinalMessage?: boolean | undefined;
  /** One of the template's names; null: `tool_use` if there are tools and such a template, otherwise `default`. */
  readonly template?: string | null | undefined;
  /** Additional variables for the template, such as `enable_thinking`. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

export interface ChatTemplate {
  /** Jinja source of the default template. */
  readonly source: string;
  /** Of its templates; a request may choose one by its name. */
  readonly names: readonly string[];
  /** Whether a template reads a variable of this name. */
  accepts(name: string): boolean;
  /** Throws `invalid_request` if the template refuses the conversation. */
  render(request: RenderRequest): string;
  /** The same text, with the places of its `{% generation %}` blocks; null: the template has none. */
  renderBlocks(request: RenderRequest): RenderedBlocks | null;
}

interface Compiled {
  readonly source: string;
  readonly program: Program;
  /** Variables that it reads. */
  readonly names: ReadonlySet<string>;
  readonly hasBlocks: boolean;
  readonly traits: TemplateTraits;
}

/** A model's own template: a conversation of a million tokens needs a tenth of it; one that never ends, ends after some seconds. */
const OWN_LIMITS: BudgetLimits = { stepsMax: 20_000_000, sizeMax: 200_000_000, depthMax: 200 };

/** `sources`: name → Jinja text. With tools, the one named `tool_use` is used if there is one, otherwise `default`. */
export function createChatTemplate(
  sources: Readonly<Record<string, string>>,
  namedTokens: ReadonlyMap<string, string>,
  clock: Clock,
  limits: BudgetLimits = OWN_LIMITS,
): ChatTemplate {
  const compiled = new Map(Object.entries(sources).map(([name, source]) => [name, compile(name, source)]));
  const plain = compiled.get('default') ?? (compiled.size === 1 ? [...compiled.values()][0] : undefined);
  if (!plain) {
    throw new AppError(
      'bad_model_files',
      `The chat templates are named ${[...compiled.keys()].join(', ')}; one must be named default.`,
    );
  }
  const functions = templateFunctions(clock);
  const names = new Set([...compiled.values()].flatMap(({ names: read }) => [...read]));
  const templateFor = ({ template, tools }: RenderRequest): Compiled =>
    compiled.get(template ?? '') ?? (tools && tools.length > 0 ? compiled.get('tool_use') : undefined) ?? plain;

  function renderWith(request: RenderRequest, { traits, program }: Compiled, marks: typeof BLOCK_MARKS | null): string {
    const { messages, tools, addGenerationPrompt, continueFinalMessage = false, variables = {} } = request;
    if (addGenerationPrompt && continueFinalMessage) {
      throw new AppError('invalid_request', 'A prompt cannot both begin a new turn and continue the last message.');
    }
    const render = (unread: UnreadArguments): string => {
      const turns = templateMessages(messages, tools ?? [], traits, unread);
      if (continueFinalMessage) markEnd(turns.at(-1));
      const text = run(
        program,
        {
          ...Object.fromEntries(namedTokens),
          add_generation_prompt: addGenerationPrompt,
          documents: null,
          ...variables,
          messages: turns,
          tools: nonEmpty(tools),
        },
        functions,
        { limits, marks },
      );
      return unread.restore(continueFinalMessage ? cutAtMark(text) : text);
    };
    const unread = createUnreadArguments(false);
    try {
      return render(unread);
    } catch (error) {
      // Only arguments that are no JSON are tried once more, as far as they can be read.
      if (unread.count === 0) throw error;
      return render(createUnreadArguments(true));
    }
  }

  return {
    source: plain.source,
    names: [...compiled.keys()],
    accepts: (name) => names.has(name),
    render: (request) => renderWith(request, templateFor(request), null),
    renderBlocks(request) {
      const template = templateFor(request);
      return template.hasBlocks ? readBlocks(renderWith(request, template, BLOCK_MARKS)) : null;
    },
  };
}

function compile(name: string, source: string): Compiled {
  try {
    const program = compileJinja(source);
    const nodes = jinjaNodes(program.body);
    return {
      source,
      program,
      names: new Set(nodes.flatMap((node) => (node.type === 'Name' ? node.name : []))),
      hasBlocks: nodes.some(({ type }) => type === 'Generation'),
      traits: readTemplateTraits(nodes),
    };
  } catch (cause) {
    throw new AppError('bad_model_files', `The chat template "${name}" is not valid: ${messageOf(cause)}`, { cause });
  }
}

function run(...call: Parameters<typeof runJinja>): string {
  try {
    return runJinja(...call);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const message = `The model's chat template cannot render this conversation: ${messageOf(cause)}`;
    throw new AppError('invalid_request', message, { param: 'messages', cause });
  }
}

/** What Transformers provides to every template, in addition to Jinja's own. */
function templateFunctions(clock: Clock): Record<string, JinjaFunction> {
  return {
    raise_exception: (message) => {
      throw new AppError('invalid_request', `The model's chat template refuses this conversation: ${message}`, {
        param: 'messages',
      });
    },
    strftime_now: (format) => strftime(new Date(clock.now()), format),
  };
}

/**
 * Appended to the last message's content, and cut off with everything after it: this finds the end of the content even if the template
 * has moved or changed what precedes it. The space shows whether the template trims; Transformers uses the same trick.
 */
const END_MARK = 'WHETSTONE_END_OF_FINAL_MESSAGE ';

function markEnd(message: TemplateMessage | undefined): void {
  const content = message?.content;
  if (message && typeof content === 'string') message.content = content + END_MARK;
  else if (message && Array.isArray(content) && content.length > 0) {
    const last = content.at(-1) as { text: string };
    message.content = [...(content.slice(0, -1) as unknown[]), { ...last, text: last.text + END_MARK }];
  } else
    throw new AppError('invalid_request', 'There is no final message with text to continue.', {
      param: 'continue_final_message',
    });
}

function cutAtMark(text: string): string {
  const at = text.lastIndexOf(END_MARK.trim());
  if (at < 0) {
    const message = 'The final message does not appear in the rendered prompt, so it cannot be continued.';
    throw new AppError('invalid_request', message, { param: 'continue_final_message' });
  }
  const cut = text.slice(0, at);
  return text.startsWith(END_MARK, at) ? cut : cut.trimEnd();
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
