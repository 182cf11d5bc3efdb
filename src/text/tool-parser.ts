// Calls that a model writes into its text, read piece by piece. Which syntax a model knows is in its chat template; forced
// calls are written in the same one (services/tool-constraint.ts). Knows no ids and no finish reasons.
import { createHermesParser } from './tool-parser/hermes.ts';
import { createLlama3Parser } from './tool-parser/llama3.ts';

export type ToolDelta =
  | { readonly kind: 'content'; readonly text: string }
  /** Call `index` begins. */
  | { readonly kind: 'call'; readonly index: number; readonly name: string }
  /** The next piece of its arguments, JSON text. */
  | { readonly kind: 'arguments'; readonly index: number; readonly text: string };

export interface ToolParser {
  push(text: string): ToolDelta[];
  /** The generation is over: what is no call after all is content. */
  flush(): ToolDelta[];
}

export interface ToolSyntax {
  readonly name: 'hermes' | 'llama3';
  /** Tokens that carry it: they stay in the text, also where the tokenizer calls them special. */
  readonly markers: readonly string[];
  createParser(): ToolParser;
}

/** `<tool_call>\n{"name": …, "arguments": {…}}\n</tool_call>`, as Hermes and Qwen models write it. */
export const HERMES: ToolSyntax = {
  name: 'hermes',
  markers: ['<tool_call>', '</tool_call>'],
  createParser: createHermesParser,
};

/** The whole answer is `{"name": …, "parameters": {…}}`, several separated by `;`. */
export const LLAMA3: ToolSyntax = {
  name: 'llama3',
  markers: ['<|python_tag|>'],
  createParser: createLlama3Parser,
};

/** Calls whose arguments are XML, within tool_call tags or without: Qwen3-Coder and Functionary; GLM-4.5. */
const XML_CALLS = ['<function=', '<arg_key>'];

/** Null: the template teaches none, or one that is not known here. */
export function findToolSyntax(templateSource: string): ToolSyntax | null {
  const has = (text: string) => templateSource.includes(text);
  if (XML_CALLS.some(has)) return null;
  if (has('<tool_call>')) return HERMES;
  const hasParameters = has('"parameters"') || has('\\"parameters\\"'); // the latter inside a Jinja string
  return has('<|python_tag|>') || (has('<|start_header_id|>') && hasParameters) ? LLAMA3 : null;
}
