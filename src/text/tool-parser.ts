// Parses the calls that a model writes into its text, piece by piece. The syntax follows from its chat template, or the operator names it;
// forced calls use the same one (services/chat/tool-constraint.ts). Knows no finish reasons.
import type { ToolParserName } from '#domain/answer-parsers';
import type { ToolDefinition } from '#domain/chat';
import { createGemmaCall } from './tool-parser/gemma-call.ts';
import { createHarmonyCall } from './tool-parser/harmony-call.ts';
import { createJsonCall } from './tool-parser/json-call.ts';
import { createNamedCall } from './tool-parser/named-call.ts';
import { createPythonCall } from './tool-parser/python-call.ts';
import { createTaggedParser } from './tool-parser/tagged-calls.ts';
import type { ToolParser } from './tool-parser/tool-delta.ts';
import { createWholeAnswerParser } from './tool-parser/whole-answer.ts';
import { createXmlCall } from './tool-parser/xml-call.ts';

export interface ToolSyntax {
  /** vLLM's name for the parser, if it has one. */
  readonly name: ToolSyntaxName;
  /** Tokens that mark calls: they stay in the text, even if the tokenizer calls them special. */
  readonly markers: readonly string[];
  /** What calls begin with, where they may begin anywhere. */
  readonly opens: readonly string[];
  /** Call ids that its chat templates accept: nine letters and digits, or any. */
  readonly callIds: 'any' | 'nine';
  /**
   * `tools`: of the request; a syntax without types looks up the types of values there. `isCertain`: a constraint makes sure that what begins
   * as a call is one, so that it is passed on as it arrives instead of once it is complete.
   */
  createParser(tools: readonly ToolDefinition[], isCertain?: boolean): ToolParser;
}

export type ToolSyntaxName =
  | 'hermes'
  | 'llama3_json'
  | 'mistral'
  | 'mistral_list'
  | 'pythonic'
  | 'phi4_mini_json'
  | 'granite'
  | 'openai'
  | 'qwen3_coder'
  | 'seed_oss'
  | 'olmo3'
  | 'functiongemma'
  | 'gemma4'
  | 'tool_code';

const jsonCall = () => createJsonCall({ needsArguments: false });
const JSON_LIST = { begin: '[', between: /^,/, end: ']', bracketsOptional: false };

/** `<tool_call>\n{"name": …, "arguments": {…}}\n</tool_call>`, as Hermes, Qwen and Granite 4 models write it. */
export const HERMES: ToolSyntax = {
  name: 'hermes',
  markers: ['<tool_call>', '</tool_call>'],
  opens: ['<tool_call>'],
  callIds: 'any',
  createParser: (_, isCertain) =>
    createTaggedParser({ opens: HERMES.opens, closes: ['</tool_call>'], list: null, newReader: jsonCall }, isCertain),
};

const PYTHON_TAGS = ['<|python_tag|>', '<|python_start|>'];
const PYTHON_END = '<|python_end|>';

/**
 * The whole answer is `{"name": …, "parameters": {…}}`, several separated by `;`. Without a tag, an object that has a name only may
 * well be an answer in JSON: `{"name": "Ada", "born": 1815}`.
 */
export const LLAMA3: ToolSyntax = {
  name: 'llama3_json',
  markers: [...PYTHON_TAGS, PYTHON_END],
  opens: [],
  callIds: 'any',
  createParser: (_, isCertain) =>
    createWholeAnswerParser(
      {
        opens: PYTHON_TAGS,
        closes: [PYTHON_END],
        begin: '{',
        between: /^[\s;,]+/,
        newReader: (isTagged) => createJsonCall({ needsArguments: !isTagged }),
      },
      isCertain,
    ),
};

/** The whole answer is `[f(a=1), g()]`: Llama 3.2 and 4, Gemma 3 by prompt. */
export const PYTHONIC: ToolSyntax = {
  name: 'pythonic',
  markers: [...PYTHON_TAGS, PYTHON_END],
  opens: [],
  callIds: 'any',
  createParser: (_, isCertain) =>
    createWholeAnswerParser(
      {
        opens: PYTHON_TAGS,
        closes: [PYTHON_END],
        begin: '[',
        between: /^\s+/,
        newReader: createPythonCall,
      },
      isCertain,
    ),
};

/** `[TOOL_CALLS]f[ARGS]{…}` for each call; before tokenizer 11 `[TOOL_CALLS] [{"name": …, "arguments": {…}}]`. Either reads both. */
export const MISTRAL: ToolSyntax = {
  name: 'mistral',
  markers: ['[TOOL_CALLS]', '[ARGS]', '[CALL_ID]'],
  opens: ['[TOOL_CALLS]'],
  callIds: 'nine',
  createParser: (_, isCertain) =>
    createTaggedParser(
      {
        opens: MISTRAL.opens,
        closes: [],
        list: JSON_LIST,
        newReader: (_, next) => (next.startsWith('{') ? jsonCall() : createNamedCall()),
      },
      isCertain,
    ),
};

const MISTRAL_LIST: ToolSyntax = { ...MISTRAL, name: 'mistral_list' };

/** `<|tool_call|>[{"name": …, "arguments": {…}}]<|/tool_call|>`; in older prompts `functools[…]`. */
export const PHI4: ToolSyntax = {
  name: 'phi4_mini_json',
  markers: ['<|tool_call|>', '<|/tool_call|>'],
  opens: ['<|tool_call|>', 'functools'],
  callIds: 'any',
  createParser: (_, isCertain) =>
    createTaggedParser(
      {
        opens: PHI4.opens,
        closes: ['<|/tool_call|>'],
        list: JSON_LIST,
        newReader: jsonCall,
      },
      isCertain,
    ),
};

/** Granite 3: `<|tool_call|>[{"name": …, "arguments": {…}}]`; `<tool_call>` in 3.1, and at the beginning no tag is needed. */
export const GRANITE: ToolSyntax = {
  name: 'granite',
  markers: ['<|tool_call|>', '<tool_call>', '</tool_call>'],
  opens: ['<|tool_call|>', '<tool_call>'],
  callIds: 'any',
  createParser: (_, isCertain) =>
    createTaggedParser(
      {
        opens: GRANITE.opens,
        closes: ['</tool_call>'],
        list: JSON_LIST,
        bareList: true,
        newReader: (tag) => createJsonCall({ needsArguments: tag === null }),
      },
      isCertain,
    ),
};

/** gpt-oss: messages of the harmony format to `functions.f`. Analysis and final answer are separated before (reasoning-parser.ts). */
export const HARMONY: ToolSyntax = {
  name: 'openai',
  markers: ['<|start|>', '<|channel|>', '<|constrain|>', '<|message|>', '<|end|>', '<|call|>', '<|return|>'],
  opens: [],
  callIds: 'any',
  createParser: (_, isCertain) =>
    createTaggedParser(
      {
        opens: ['<|start|>assistant', '<|channel|>'],
        opensAnswer: [' to='],
        closes: ['<|call|>', '<|end|>', '<|return|>'],
        list: null,
        newReader: (tag) => createHarmonyCall(tag!),
      },
      isCertain,
    ),
};

const xmlSyntax = (name: ToolSyntaxName, block: string): ToolSyntax => {
  const [open, close] = [`<${block}>`, `</${block}>`];
  const opens = [open, '<function='];
  return {
    name,
    markers: [open, close],
    opens,
    callIds: 'any',
    createParser: (tools, isCertain) =>
      createTaggedParser(
        {
          opens,
          closes: [close, '</function>'],
          list: null,
          newReader: (tag) => createXmlCall(tools, block, tag !== open),
        },
        isCertain,
      ),
  };
};

/** `<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>`; the outer tags may be missing. */
export const QWEN3_CODER = xmlSyntax('qwen3_coder', 'tool_call');
const SEED_OSS = xmlSyntax('seed_oss', 'seed:tool_call');

const gemmaSyntax = (name: ToolSyntaxName, open: string, close: string, quote: string): ToolSyntax => ({
  name,
  markers: [open, close, quote],
  opens: [open],
  callIds: 'any',
  createParser: (tools, isCertain) =>
    createTaggedParser(
      { opens: [open], closes: [close], list: null, newReader: () => createGemmaCall(quote, tools) },
      isCertain,
    ),
});

/** `<start_function_call>call:f{a:<escape>x<escape>,b:1}<end_function_call>` */
export const FUNCTION_GEMMA = gemmaSyntax('functiongemma', '<start_function_call>', '<end_function_call>', '<escape>');

/** `<|tool_call>call:f{a:<|"|>x<|"|>,b:1}<tool_call|>` */
export const GEMMA4 = gemmaSyntax('gemma4', '<|tool_call>', '<tool_call|>', '<|"|>');

/** A line for each call, or a list. */
const PYTHON_LINES = { begin: '[', between: /^(?:,|;|(?=[A-Za-z_]))/, end: ']', bracketsOptional: true };

/** `<function_calls>f(a=1)\ng()</function_calls>` */
const OLMO3: ToolSyntax = {
  name: 'olmo3',
  markers: ['<function_calls>', '</function_calls>'],
  opens: ['<function_calls>'],
  callIds: 'any',
  createParser: (_, isCertain) =>
    createTaggedParser(
      { opens: OLMO3.opens, closes: ['</function_calls>'], list: PYTHON_LINES, newReader: createPythonCall },
      isCertain,
    ),
};

const FENCE = '```';

/** Gemma 3 where its prompt asks for code: calls in a fence of `tool_code`, a line each, or as a list. */
export const TOOL_CODE: ToolSyntax = {
  name: 'tool_code',
  markers: [],
  opens: [`${FENCE}tool_code`],
  callIds: 'any',
  createParser: (_, isCertain) =>
    createTaggedParser(
      {
        opens: TOOL_CODE.opens,
        closes: [FENCE],
        closesOnce: true,
        list: PYTHON_LINES,
        newReader: createPythonCall,
      },
      isCertain,
    ),
};

const BY_NAME: Readonly<Record<ToolParserName, ToolSyntax | null>> = {
  hermes: HERMES,
  granite4: HERMES,
  llama3_json: LLAMA3,
  llama4_json: LLAMA3,
  pythonic: PYTHONIC,
  llama4_pythonic: PYTHONIC,
  mistral: MISTRAL,
  phi4_mini_json: PHI4,
  granite: GRANITE,
  openai: HARMONY,
  qwen3_coder: QWEN3_CODER,
  qwen3_xml: QWEN3_CODER,
  seed_oss: SEED_OSS,
  olmo3: OLMO3,
  functiongemma: FUNCTION_GEMMA,
  gemma4: GEMMA4,
  tool_code: TOOL_CODE,
  none: null,
};

/** `templateSource`: distinguishes two syntaxes that share a name. */
export function toolSyntaxNamed(name: ToolParserName, templateSource: string | null): ToolSyntax | null {
  const isOlder = name === 'mistral' && templateSource !== null && !templateSource.includes('[ARGS]');
  return isOlder ? MISTRAL_LIST : BY_NAME[name];
}

/** Null: the template uses no call syntax, or an unknown one. */
export function findToolSyntax(templateSource: string): ToolSyntax | null {
  const has = (...texts: string[]) => texts.every((text) => templateSource.includes(text));
  if (has('<|channel|>', '<|call|>')) return HARMONY;
  if (has('<start_function_call>')) return FUNCTION_GEMMA;
  if (has('<|tool_call>', '<tool_call|>')) return GEMMA4;
  if (has('[TOOL_CALLS]')) return has('[ARGS]') ? MISTRAL : MISTRAL_LIST;
  if (has('<seed:tool_call>')) return SEED_OSS;
  if (has('<function=', '<parameter=')) return QWEN3_CODER;
  if (has('<function=') || has('<arg_key>') || has('<tool_calls>')) return null; // Functionary's, GLM's, Hunyuan's
  if (has('<function_calls>') && !has('<invoke')) return OLMO3;
  if (has('<|/tool_call|>') || has('functools') || has('<|tool|>', '<|/tool|>')) return PHI4;
  if (has('<|tool_call|>')) return GRANITE;
  if (has('<tool_call>')) return HERMES;
  if (has(`${FENCE}tool_code`)) return TOOL_CODE;
  if (has('[func_name1(')) return PYTHONIC;
  const hasParameters = has('"parameters"') || has('\\"parameters\\"'); // the latter inside a Jinja string
  if (PYTHON_TAGS.some((tag) => has(tag))) return LLAMA3;
  return has('<|start_header_id|>') && hasParameters ? LLAMA3 : null;
}
