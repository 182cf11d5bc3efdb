// How each syntax writes calls, as formats of structural tags: what introduces a call, its arguments, what ends it, and how calls are
// placed beside text and each other. text/tool-parser parses them.
import type { ToolDefinition } from '#domain/chat';
import type { ToolSyntaxName } from '#text/tool-parser';
import { constant, oneOf, regex, sequence, type Format } from './argument-formats.ts';
import { gemmaArguments } from './gemma-arguments.ts';
import { ANY_PYTHON, pythonArguments } from './python-arguments.ts';
import { ANY_XML, xmlArguments } from './xml-arguments.ts';

export interface Tag {
  readonly begin: string;
  readonly content: Format;
  readonly end: string;
}

export interface Calls {
  readonly tags: readonly Tag[];
  readonly stop_after_first: boolean;
}

export interface CallSyntax {
  /** Names of tools that its parser reads back. */
  readonly names: RegExp;
  /** One tool; several formats are alternative spellings of the same call. */
  readonly begin: (name: string) => readonly string[];
  readonly end: string;
  /** Null: arguments are one JSON object. */
  readonly arguments: {
    readonly any: Format;
    /** Throws Inexpressible. */
    readonly write: (tool: ToolDefinition, isStrict: boolean) => Format;
  } | null;
  /** Only calls; or text that may contain calls. */
  readonly forced: (calls: Calls) => Format;
  readonly free: (calls: Calls) => Format;
}

const separated = (calls: Calls, separator: string): Format => ({
  type: 'tags_with_separator',
  ...calls,
  separator,
  at_least_one: true,
});

const triggered = (triggers: readonly string[], { tags, ...calls }: Calls): Format => ({
  type: 'triggered_tags',
  triggers,
  tags: tags.filter(({ begin }) => triggers.some((trigger) => begin.startsWith(trigger))),
  ...calls,
});

/** A separate block for each call. */
const blocks = (trigger: string, separator: string) => ({
  forced: (calls: Calls) => separated(calls, separator),
  free: (calls: Calls) => triggered([trigger], calls),
});

/** One block for all calls. */
function list(begin: string, separator: string, end: string, trigger: string) {
  const block = (calls: Calls): Tag => ({ begin, content: separated(calls, separator), end });
  return {
    forced: (calls: Calls) => ({ type: 'tag', ...block(calls) }),
    free: (calls: Calls) => triggered([trigger], { tags: [block(calls)], stop_after_first: calls.stop_after_first }),
  };
}

const jsonBegin = (key: string) => (name: string) => [`{"name": ${JSON.stringify(name)}, "${key}": `];

/** Text without a call: it starts with neither the bracket nor `<|python_tag|>`. */
const textWithout = (bracket: string): Format => regex(`[ \\t\\r\\n]*(?:(?:[^${bracket}< \\t\\r\\n]|<[^|])[\\s\\S]*)?`);

const pythonList = (calls: Calls) => sequence(constant('['), separated(calls, ', '), constant(']'));

const ANY_NAME = /[^]/;
const PYTHON_NAME = /^[\p{XID_Start}_][\p{XID_Continue}.-]*$/u;

const XML = { any: ANY_XML, write: xmlArguments };
const PYTHON = { any: ANY_PYTHON, write: pythonArguments };
const FENCE = '```';

function xmlSyntax(block: string): CallSyntax {
  return {
    names: /^[^\s<>]+$/,
    begin: (name) => [`<${block}>\n<function=${name}>\n`],
    end: `</function>\n</${block}>`,
    arguments: XML,
    ...blocks(`<${block}>`, '\n'),
  };
}

function gemmaSyntax(open: string, close: string, quote: string): CallSyntax {
  return {
    names: /^[\w.-]+$/,
    begin: (name) => [`${open}call:${name}{`],
    end: `}${close}`,
    arguments: gemmaArguments(quote),
    ...blocks(open, ''),
  };
}

const ANALYSIS: Tag = { begin: '<|channel|>analysis<|message|>', content: { type: 'any_text' }, end: '<|end|>' };
const HARMONY_TRIGGER = 'to=functions.';

export const CALL_SYNTAXES: Readonly<Record<ToolSyntaxName, CallSyntax>> = {
  hermes: {
    names: ANY_NAME,
    begin: (name) => [`<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": `],
    end: '}\n</tool_call>',
    arguments: null,
    ...blocks('<tool_call>', '\n'),
  },
  llama3_json: {
    names: ANY_NAME,
    begin: jsonBegin('parameters'),
    end: '}',
    arguments: null,
    forced: (calls) => separated(calls, '; '),
    // Here text is one more tag, with nothing around it.
    free: ({ tags, ...calls }) =>
      separated({ ...calls, tags: [...tags, { begin: '', content: textWithout('{'), end: '' }] }, '; '),
  },
  mistral: {
    names: /^[^\s[\]{}<>"]+$/,
    begin: (name) => [`[TOOL_CALLS]${name}[ARGS]`],
    end: '',
    arguments: null,
    ...blocks('[TOOL_CALLS]', ''),
  },
  mistral_list: {
    names: ANY_NAME,
    begin: jsonBegin('arguments'),
    end: '}',
    arguments: null,
    ...list('[TOOL_CALLS] [', ', ', ']', '[TOOL_CALLS]'),
  },
  phi4_mini_json: {
    names: ANY_NAME,
    begin: jsonBegin('arguments'),
    end: '}',
    arguments: null,
    ...list('<|tool_call|>[', ', ', ']<|/tool_call|>', '<|tool_call|>'),
  },
  granite: {
    names: ANY_NAME,
    begin: jsonBegin('arguments'),
    end: '}',
    arguments: null,
    ...list('<|tool_call|>[', ', ', ']', '<|tool_call|>'),
  },
  pythonic: {
    names: PYTHON_NAME,
    begin: (name) => [`${name}(`],
    end: ')',
    arguments: PYTHON,
    forced: pythonList,
    free: (calls) => oneOf([textWithout('\\['), pythonList(calls)]),
  },
  tool_code: {
    names: PYTHON_NAME,
    begin: (name) => [`${name}(`],
    end: ')',
    arguments: PYTHON,
    ...list(`${FENCE}tool_code\n`, '\n', `\n${FENCE}`, `${FENCE}tool_code`),
  },
  olmo3: {
    names: PYTHON_NAME,
    begin: (name) => [`${name}(`],
    end: ')',
    arguments: PYTHON,
    ...list('<function_calls>', '\n', '</function_calls>', '<function_calls>'),
  },
  qwen3_coder: xmlSyntax('tool_call'),
  seed_oss: xmlSyntax('seed:tool_call'),
  functiongemma: gemmaSyntax('<start_function_call>', '<end_function_call>', '<escape>'),
  gemma4: gemmaSyntax('<|tool_call>', '<tool_call|>', '<|"|>'),
  // A call ends the answer: `<|call|>` is a stop token. Reasoning may come first.
  openai: {
    names: /^[^\s<]+$/,
    begin: (name) => [
      `${HARMONY_TRIGGER}${name} <|constrain|>json<|message|>`,
      `${HARMONY_TRIGGER}${name}<|channel|>commentary <|constrain|>json<|message|>`,
      `${HARMONY_TRIGGER}${name}<|channel|>commentary json<|message|>`,
      `${HARMONY_TRIGGER}${name}<|message|>`,
    ],
    end: '',
    arguments: null,
    forced: ({ tags }) => {
      const call = oneOf(
        tags
          .filter((each) => each.begin.endsWith(' <|constrain|>json<|message|>') && !each.begin.includes('<|channel|>'))
          .map((each) => ({ type: 'tag', ...each, begin: `<|channel|>commentary ${each.begin}` })),
      );
      return oneOf([call, sequence({ type: 'tag', ...ANALYSIS }, constant('<|start|>assistant'), call)]);
    },
    free: (calls) => triggered([HARMONY_TRIGGER], { ...calls, stop_after_first: true }),
  },
};
