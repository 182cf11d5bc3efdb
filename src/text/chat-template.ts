// Renders messages into the prompt text that a model was trained on, with its Jinja template. Follows Transformers' apply_chat_template, so
// that prompts equal those of the model's makers. chat-template-files.ts finds the templates; jinja/ runs them.
import { nonEmpty } from '#base/non-empty';
import { stringifySentJson } from '#base/sent-json';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import type { Clock } from '#base/clock';
import { AppError } from '#domain/errors';
import { freeMarks, readBlocks, type BlockMarks, type RenderedBlocks } from './generation-blocks.ts';
import type { BudgetLimits } from './jinja/budget.ts';
import { BudgetError } from './jinja/errors.ts';
import { compileJinja, runJinja, type JinjaFunction, type Program } from './jinja/jinja.ts';
import { jinjaNodes } from './jinja/syntax.ts';
import { trim, trimEnd } from './jinja/white-space.ts';
import { strftime } from './strftime.ts';
import { pythonEntries } from './python-json.ts';
import { templateMessages, type TemplateMessage } from './template-messages.ts';
import { readTemplateTraits, type TemplateTraits } from './template-traits.ts';
import { toolForms } from './tool-forms.ts';
import { createUnreadArguments, type UnreadArguments } from './unread-arguments.ts';

export interface RenderRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[] | null | undefined;
  /** Ends with the beginning of an assistant turn. */
  readonly addGenerationPrompt: boolean;
  /** Ends inside the last message, right after its content, which the model continues. */
  readonly continueFinalMessage?: boolean | undefined;
  /** System messages after the first join it if the template refuses them there. */
  readonly mergesSystem?: boolean | undefined;
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
  const plain = compiled.get('default'); // As in Transformers, another one is never used for requests that name none.
  if (!plain) {
    throw new AppError(
      'bad_model_files',
      `The chat templates are named ${[...compiled.keys()].join(', ')}; one must be named default. Name one so, or give it with --chat-template FILE.`,
    );
  }
  const functions = templateFunctions(clock);
  const names = new Set([...compiled.values()].flatMap(({ names: read }) => [...read]));
  const templateFor = ({ template, tools }: RenderRequest): Compiled =>
    compiled.get(template ?? '') ?? (tools && tools.length > 0 ? compiled.get('tool_use') : undefined) ?? plain;

  function renderWith(request: RenderRequest, template: Compiled, marks: BlockMarks | null): string {
    const { traits, program } = template;
    const { tools, addGenerationPrompt, continueFinalMessage = false, variables = {} } = request;
    if (addGenerationPrompt && continueFinalMessage) {
      throw new AppError('invalid_request', 'A prompt cannot both begin a new turn and continue the last message.');
    }
    const messages =
      request.mergesSystem && request.messages.slice(1).some(isSystem) && refusesLaterSystem(template)
        ? withFirstSystem(request.messages)
        : request.messages;
    const render = (given: readonly ToolDefinition[] | null, unread: UnreadArguments): string => {
      const turns = templateMessages(messages, given ?? [], traits, unread);
      const continued = continueFinalMessage ? markEnd(turns.at(-1)) : null;
      const text = run(
        program,
        {
          ...Object.fromEntries(namedTokens),
          add_generation_prompt: addGenerationPrompt,
          documents: null,
          ...Object.fromEntries(pythonEntries(variables)),
          messages: turns,
          tools: given,
        },
        functions,
        { limits, marks },
      );
      return unread.restore(continued === null ? text : cutAtMark(text, continued));
    };
    const given = () => template.source + stringifySentJson([messages, tools, variables]);
    return firstOf(toolForms(nonEmpty(tools)), given, render);
  }

  /** Asked of the template itself, as vLLM does. */
  function refusesLaterSystem({ traits, program }: Compiled): boolean {
    const turns = ['system', 'user', 'system', 'user'].map((role) => ({ role, content: 't' }));
    const messages = templateMessages(
      turns,
      [],
      traits,
      createUnreadArguments('mark', () => ''),
    );
    try {
      run(program, { ...Object.fromEntries(namedTokens), add_generation_prompt: false, messages }, functions, {
        limits,
        marks: null,
      });
      return false;
    } catch {
      return true;
    }
  }

  return {
    source: plain.source,
    names: [...compiled.keys()],
    accepts: (name) => names.has(name),
    render: (request) => renderWith(request, templateFor(request), null),
    renderBlocks(request) {
      const template = templateFor(request);
      if (!template.hasBlocks) return null;
      const marks = freeMarks(stringifySentJson([request.messages, request.tools, request.variables]));
      return readBlocks(renderWith(request, template, marks), marks);
    },
  };
}

/**
 * The first text that the template writes: of tools in each form, then again with what can be read of arguments that are no JSON. A template
 * that looks into a text for them, where it expects an object, writes another text with other marks; and one that leaves the text out may
 * write an object. `request`: all that it gets.
 */
function firstOf<Form>(
  forms: readonly Form[],
  request: () => string,
  render: (form: Form, unread: UnreadArguments) => string,
): string {
  const failures: unknown[] = [];
  let without: string | null = null;
  let isLookedInto = false;
  let hasUnread = false;
  for (const form of forms) {
    const unread = createUnreadArguments('mark', request);
    try {
      const text = render(form, unread);
      if (unread.count === 0) return text;
      hasUnread = true;
      isLookedInto = render(form, createUnreadArguments('other mark', request)) !== text;
      if (!isLookedInto && unread.areWritten) return text;
      if (!isLookedInto) without = text;
      break;
    } catch (error) {
      hasUnread = unread.count > 0;
      failures.push(error);
      throwIfSpent(error);
    }
  }
  if (!hasUnread) throw failures[0];
  failures.length = 0;
  for (const form of forms) {
    try {
      return render(form, createUnreadArguments('object', request));
    } catch (error) {
      failures.push(error);
      throwIfSpent(error);
    }
  }
  if (without !== null) return without;
  throw isLookedInto ? looksInto(failures[0]) : failures[0];
}

/** Another attempt would cost as much. */
function throwIfSpent(error: unknown): void {
  if (error instanceof AppError && error.cause instanceof BudgetError) throw error;
}

function looksInto(cause: unknown): AppError {
  const message = `The model's chat template looks into the arguments of a tool call, and in this conversation they are no JSON object: ${messageOf(cause)}`;
  return new AppError('invalid_request', message, { param: 'messages', cause });
}

const isSystem = ({ role }: ChatMessage): boolean => role === 'system';

/** The texts follow each other without a line between them, as in vLLM. */
function withFirstSystem(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const parts = messages.filter(isSystem).map(({ content }) => content ?? '');
  const content = parts.every((part) => typeof part === 'string')
    ? parts.join('')
    : parts.flatMap((part) => (typeof part === 'string' ? { type: 'text', text: part } : part));
  return [{ role: 'system', content }, ...messages.filter((message) => !isSystem(message))];
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
 * Appended to the last message's content, and cut off with everything after it: this finds the end of the content even if its
 * text occurs elsewhere too. The space shows whether the template trims. It is Transformers' mark: some templates look for it.
 */
const END_MARK = 'CONTINUE_FINAL_MESSAGE_TAG ';

/** The text that is continued: the last part's. */
function markEnd(message: TemplateMessage | undefined): string {
  const content = message?.content;
  if (message && typeof content === 'string') {
    message.content = content + END_MARK;
    return content;
  }
  if (message && Array.isArray(content) && content.length > 0) {
    const last = content.at(-1) as { text: string };
    message.content = [...(content.slice(0, -1) as unknown[]), { ...last, text: last.text + END_MARK }];
    return last.text;
  }
  throw new AppError('invalid_request', 'There is no final message with text to continue.', {
    param: 'continue_final_message',
  });
}

/** Throws `invalid_request` if the template wrote another text than the one to continue, as Transformers does. */
function cutAtMark(text: string, continued: string): string {
  const at = text.lastIndexOf(END_MARK.trim());
  if (at < 0 || !text.includes(trim(continued))) {
    const message =
      'The final message does not appear in the rendered prompt as it was sent, so it cannot be continued.';
    throw new AppError('invalid_request', message, { param: 'continue_final_message' });
  }
  const cut = text.slice(0, at);
  return text.startsWith(END_MARK, at) ? cut : trimEnd(cut);
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
