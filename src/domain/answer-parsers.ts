// Names of the parsers for tool calls and reasoning that an operator chooses when starting a server: vLLM's names where vLLM has one,
// and `none`. text/tool-parser.ts and text/reasoning-parser.ts implement them.

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
  'seed_oss',
  'olmo3',
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

/** Null: detected from the model's chat template. */
export interface AnswerParsers {
  readonly tools: ToolParserName | null;
  readonly reasoning: ReasoningParserName | null;
}
