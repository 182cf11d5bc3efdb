// Renders messages into the prompt text that a model was trained on, with the Jinja template in its directory. Follows Transformers'
// apply_chat_template, so that prompts equal those of the model's makers; see test/golden/fixtures/tokenizers.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nonEmpty } from '#base/non-empty';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import { isObject } from '#base/is-object';
import type { Clock } from '#base/clock';
import { withinMs } from '#base/time-limit';
import { AppError } from '#domain/errors';
import { markBlocks, readBlocks, type RenderedBlocks } from './generation-blocks.ts';
import { jinjaNodes, mendJinja, parseJinja, runJinja, type JinjaNode } from './jinja.ts';
import type { JinjaFunction } from './jinja-values.ts';
import { strftime } from './strftime.ts';
import { templateMessages, type TemplateMessage } from './template-messages.ts';
import { readTemplateTraits, type TemplateTraits } from './template-traits.ts';
import type { TokenizerFiles } from './tokenizer-files.ts';
import { createUnreadArguments, type UnreadArguments } from './unread-arguments.ts';

export interface RenderRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[] | null | undefined;
  /** Ends with the beginning of an assistant turn. */
  readonly addGenerationPrompt: boolean;
  /** Ends inside the last message, right after its content, which the model continues. */
  readonly continueFinalMessage?: boolean | undefined;
  /** Additional variables for the template, such as `enable_thinking`. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

export interface ChatTemplate {
  /** Jinja source of the default template. */
  readonly source: string;
  /** Whether a template reads a variable of this name. */
  accepts(name: string): boolean;
  /** Throws `invalid_request` if the template refuses the conversation. */
  render(request: RenderRequest): string;
  /** The same text, with the places of its `{% generation %}` blocks; null: the template has none. */
  renderBlocks(request: RenderRequest): RenderedBlocks | null;
}

/**
 * chat_template.jinja takes precedence over tokenizer_config.json, as in Transformers; `instead`, a file of the operator's, over both.
 * Null: the model has none.
 */
export async function findChatTemplate(
  directory: string,
  files: TokenizerFiles,
  clock: Clock,
  instead: string | null = null,
): Promise<ChatTemplate | null> {
  if (instead !== null) return createChatTemplate({ default: await readTemplate(instead) }, files.namedTokens, clock);
  const path = join(directory, 'chat_template.jinja');
  const source = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null;
    throw new AppError('bad_model_files', `Cannot read ${path}.`, { cause });
  });
  const sources = source === null ? namedSources(files.config.chat_template, directory) : { default: source };
  return sources ? createChatTemplate(sources, files.namedTokens, clock) : null;
}

function readTemplate(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'ENOENT' ? 'there is no such file' : cause.message;
    throw new AppError('bad_model_files', `Cannot read the chat template ${path}: ${why}.`, { cause });
  });
}

/** One template, or a list of named ones. */
function namedSources(value: unknown, directory: string): Readonly<Record<string, string>> | null {
  if (typeof value === 'string') return { default: value };
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value))
    throw new AppError(
      'bad_model_files',
      `chat_template in ${directory}/tokenizer_config.json must be a text or a list of named ones, not a ${typeof value}.`,
    );
  if (value.length === 0) return null;
  const entries = (value as unknown[]).map((item) => {
    if (isObject(item) && typeof item.name === 'string' && typeof item.template === 'string')
      return [item.name, item.template] as const;
    throw new AppError(
      'bad_model_files',
      `chat_template in ${directory}/tokenizer_config.json has an entry without name or template.`,
    );
  });
  return Object.fromEntries(entries);
}

interface Compiled {
  readonly source: string;
  /** With marks around its `{% generation %}` blocks; null: it has none. */
  readonly marked: JinjaNode | null;
  /** Identifiers in it. */
  readonly names: ReadonlySet<string>;
  readonly program: JinjaNode;
  readonly traits: TemplateTraits;
}

/** `sources`: name → Jinja text. With tools, the one named `tool_use` is used if there is one, otherwise `default`. */
export function createChatTemplate(
  sources: Readonly<Record<string, string>>,
  namedTokens: ReadonlyMap<string, string>,
  clock: Clock,
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
  const templateFor = ({ tools }: RenderRequest): Compiled =>
    (tools && tools.length > 0 ? compiled.get('tool_use') : undefined) ?? plain;

  function renderWith(request: RenderRequest, { traits }: Compiled, program: JinjaNode): string {
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
    accepts: (name) => names.has(name),
    render(request) {
      const template = templateFor(request);
      return renderWith(request, template, template.program);
    },
    renderBlocks(request) {
      const template = templateFor(request);
      return template.marked && readBlocks(renderWith(request, template, template.marked));
    },
  };
}

/** The longest published templates take a hundredth of a second. */
const COMPILE_MS = 10_000;

function compile(name: string, source: string): Compiled {
  try {
    return withinMs(COMPILE_MS, () => compileSource(source));
  } catch (cause) {
    throw new AppError('bad_model_files', `The chat template "${name}" is not valid: ${messageOf(cause)}`, { cause });
  }
}

function compileSource(source: string): Compiled {
  const program = parseJinja(source);
  const traits = readTemplateTraits(program);
  const identifiers = jinjaNodes(program).filter(({ type }) => type === 'Identifier');
  const names = new Set(identifiers.map(({ value }) => String(value)));
  const marked = markBlocks(source);
  return {
    source,
    marked: marked === null ? null : mendJinja(parseJinja(marked)),
    names,
    program: mendJinja(program),
    traits,
  };
}

function run(
  program: JinjaNode,
  variables: Readonly<Record<string, unknown>>,
  functions: Readonly<Record<string, JinjaFunction>>,
): string {
  try {
    return runJinja(program, variables, functions);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError(
      'invalid_request',
      `The model's chat template cannot render this conversation: ${messageOf(cause)}`,
      {
        param: 'messages',
        cause,
      },
    );
  }
}

/** What Transformers provides to every template, in addition to Jinja's own. */
function templateFunctions(clock: Clock): Record<string, JinjaFunction> {
  return {
    range: (args) => range(...(args.map((arg) => Number(arg.value)) as [number, number?, number?])),
    raise_exception: ([message]) => {
      const refusal = String(message?.value);
      throw new AppError('invalid_request', `The model's chat template refuses this conversation: ${refusal}`, {
        param: 'messages',
      });
    },
    strftime_now: ([format]) => strftime(new Date(clock.now()), String(format?.value)),
  };
}

const MAX_RANGE = 100_000; // as Jinja's sandbox: a template must not build a list that fills the memory

function range(first: number, second?: number, step = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!Number.isFinite(length) || length > MAX_RANGE) throw new Error(`range of ${length} items; at most ${MAX_RANGE}`);
  return Array.from({ length }, (_, i) => start + i * step);
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
