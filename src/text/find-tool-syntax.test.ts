import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TOOL_PARSER_NAMES } from '#domain/answer-parsers';
import { findToolSyntax, MISTRAL, QWEN3_CODER, toolSyntaxNamed } from './tool-parser.ts';

test('a chat template says which syntax its model writes', () => {
  const template = (path: string) => findToolSyntax(readFileSync(path, 'utf8'));
  expect(template('python/golden/chat_templates/qwen.jinja')?.name).toBe('hermes');
  expect(template('python/golden/chat_templates/llama3.jinja')?.name).toBe('llama3_json');
  expect(template('scripts/starter/chat-template.jinja')?.name).toBe('hermes');
  expect(findToolSyntax('{{ messages[0].content }}')).toBeNull();
});

test.each([
  ['qwen3_coder', "{{ '<tool_call>\\n<function=' + call.name + '>\\n<parameter=' }}"],
  ['llama3_json', '<|start_header_id|>{{ "as {\\"name\\": …, \\"parameters\\": …}" }}'],
  ['llama3_json', "{{ '<|python_start|>' }}"],
  ['mistral', "{{ '[TOOL_CALLS]' + call.name + '[ARGS]' + arguments }}"],
  ['mistral_list', "{{ '[TOOL_CALLS] [' + call|tojson + ']' }}"],
  ['pythonic', 'Write [func_name1(params_name1=params_value1), func_name2(params)].'],
  ['phi4_mini_json', "{{ '<|tool|>' + tools + '<|/tool|>' }}"],
  ['granite', 'respond with <|tool_call|> followed by a list {{ "<|start_of_role|>" }}'],
  ['openai', "{{ '<|start|>assistant to=functions.f<|channel|>commentary json<|message|>' }}{{ '<|call|>' }}"],
  ['functiongemma', "{{ '<start_function_call>call:' + name }}"],
  ['gemma4', "{{ '<|tool_call>call:' + name + '}<tool_call|>' }}"],
  ['tool_code', 'Call functions in ```tool_code fences.'],
  ['seed_oss', "{%- set begin = '<seed:tool_call>' -%}{{ begin + '\\n<function=' + call.name + '>\\n<parameter=' }}"],
  ['olmo3', "{{ '<function_calls>' }}{{ call.name ~ '(' }}"],
  // Calls of Functionary, GLM, Hunyuan and MiniMax, which are unknown here.
  [undefined, "{{ '<tool_calls><tool_call>' + call.name + '\\n```json' }}"],
  [undefined, "{{ '<function_calls><invoke name=\"' + call.name + '\">' }}"],
  [undefined, "{{ '<function=' + call.name + '>' + call.arguments + '</function>' }}"],
  [undefined, "{{ '<tool_call>' + call.name + '<arg_key>' }}"],
] as const)('%s is found in a template', (name, template) => {
  expect(findToolSyntax(template)?.name).toBe(name);
});

test('a parser can be named as vLLM names it', () => {
  for (const name of TOOL_PARSER_NAMES) expect(toolSyntaxNamed(name, null) === null).toBe(name === 'none');
  expect(toolSyntaxNamed('qwen3_xml', null)).toBe(QWEN3_CODER);
  expect(toolSyntaxNamed('mistral', '[TOOL_CALLS] [')?.name).toBe('mistral_list');
  expect(toolSyntaxNamed('mistral', '[TOOL_CALLS]f[ARGS]')).toBe(MISTRAL);
  expect(toolSyntaxNamed('none', '<tool_call>')).toBeNull();
});
