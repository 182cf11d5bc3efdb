// The names by which whoever starts a server says how its models write calls and thinking: vLLM's, where it has one, and `none`.
// What they mean is text/tool-parser.ts and text/reasoning-parser.ts.

export const TOOL_PARSER_NAMES = [
  'hermes',
  'granite4',
  'llama3_json',
  'llama4_json',
  'pythonic',
  'llama4_pythonic',
  'mistral',
  'phi4_mini_json',
  'granite',
  'openai',
  'qwen3_coder',
  'qwen3_xml',
  'functiongemma',
  'gemma4',
  'tool_code',
  'none',
] as const;
export type ToolParserName = (typeof TOOL_PARSER_NAMES)[number];

export const REASONING_PARSER_NAMES = [
  'qwen3',
  'deepseek_r1',
  'mistral',
  'granite',
  'openai_gptoss',
  'gemma4',
  'seed_oss',
  'none',
] as const;
export type ReasoningParserName = (typeof REASONING_PARSER_NAMES)[number];

/** Null: as the model's chat template teaches. */
export interface AnswerParsers {
  readonly tools: ToolParserName | null;
  readonly reasoning: ReasoningParserName | null;
}
