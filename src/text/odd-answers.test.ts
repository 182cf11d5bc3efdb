// Answers as no model should write them, with reasoning and calls: however they are split, they are read in the same way, and each word of
// them is passed on once, as reasoning, content or in a call.
import { expect, test } from 'vitest';
import fc from 'fast-check';
import type { ReasoningParserName, ToolParserName } from '#domain/answer-parsers';
import { readAnswer } from '../../test/support/read-answer.ts';
import type { ThinkingState } from './reasoning-parser/reasoned-text.ts';

const properties = {
  city: { type: 'string' },
  days: { type: 'array', items: { type: 'integer' } },
  count: { type: 'integer' },
  note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
};
const TOOLS = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties } } }];

/** A `@` is a word of its own. None stands in keys that a call does not have, or in a comment: they may be dropped. */
const FRAGMENTS: Readonly<Record<string, readonly string[]>> = {
  any: ['@', ' @ ', 'Yes @.\n', '\n', ' ', '{', '}', '[', ']', ',', ';', '"', "'", '<', '1', 'null', '"@"', '{"a": "@"}', '{"a": NaN, "b": "@"}', "{'a': '@'}", '[1, "@"]'],
  think: ['<think>', '</think>', '[THINK]', '[/THINK]', '<|channel>thought', '<channel|>', 'Here is my thought process:', 'Here is my response:', '<response>', '</response>'],
  json: [
    '{"name": "f", ', '"arguments": ', '"parameters": {"a": ', '{"name": "f"}', '{"name": "f", "arguments": {"a": "@"}}', '{"name": "f", "parameters": {"a": "@"}}',
    '{"name": "f", "arguments": "{\\"a\\": \\"@\\"}"}', '{"name": "f", "arguments": "@"}', '{"name": "f", "arguments": ["@"]}', '{"name": "f", "input": "@"}',
    '{"name": "", "arguments": {"a": "@"}}', '{"arguments": {"a": "@"}}', '{"name": "f", "arguments": {}, "arguments": {"a": "@"}}', '{"name": "f", "arguments": {"a": "@",}}',
    '{"name": "f", "arguments": {"a": "</tool_call> @"}}',
  ],
  tags: ['<tool_call>', '</tool_call>', '<tool_call', '<|tool_call|>', '<|/tool_call|>', 'functools', '[TOOL_CALLS]', '[ARGS]', 'f[ARGS]{"a": "@"}', '<|python_tag|>', '<|python_start|>', '<|python_end|>', '```tool_code\n', '```'],
  python: ['f(', 'f(a="@")', "[f(a='@')]", '[f(a=@)]', '[f("@")]', '[f(a="@", a="@")]', '[f(a="@"', 'a=[1, "@"]', ')'],
  xml: ['<function=f>', '<function=@>', '<function=f', '</function>', '<parameter=city>', '<parameter=count>@', '<parameter=note>\n@\n', '<parameter=days>["@</parameter>', '</parameter>', '<parameter city>'],
  seed: ['<seed:think>', '</seed:think>', '<seed:tool_call>', '</seed:tool_call>', '<seed:tool', '</tool_call>'],
  olmo: ['<function_calls>', '</function_calls>', '<function_calls', '\nf(a="@")\n', 'f(b=[1, {"c": null}])'],
  gemma: ['<|tool_call>', '<tool_call|>', '<start_function_call>', '<end_function_call>', 'call:f{', 'call:', 'city:', '<|"|>', '<escape>', '<|"|>@<|"|>', '<escape>@<escape>', 'count:<|"|>@', 'count:<escape>@'],
  harmony: ['<|start|>assistant', '<|channel|>', '<|channel|>analysis', '<|channel|>final', 'commentary', ' to=functions.f', ' to=@ ', '<|constrain|>json', '<|message|>', '<|message|>{"a": "@"}', '<|end|>', '<|call|>'],
}; // prettier-ignore

const KINDS: readonly (readonly [ReasoningParserName, ToolParserName, ThinkingState, kinds: readonly string[]])[] = [
  ['qwen3', 'hermes', 'open', ['json', 'tags']],
  ['deepseek_r1', 'llama3_json', 'unsaid', ['json', 'tags']],
  ['none', 'llama4_pythonic', 'unsaid', ['python', 'tags']],
  ['none', 'tool_code', 'unsaid', ['python', 'tags']],
  ['mistral', 'mistral', 'unsaid', ['json', 'tags']],
  ['none', 'phi4_mini_json', 'unsaid', ['json', 'tags']],
  ['granite', 'granite', 'unsaid', ['json', 'tags']],
  ['qwen3', 'qwen3_coder', 'open', ['xml', 'tags']],
  ['qwen3', 'qwen3_coder', 'closed', ['xml', 'tags']],
  ['seed_oss', 'seed_oss', 'open', ['xml', 'seed']],
  ['none', 'olmo3', 'unsaid', ['python', 'olmo']],
  ['none', 'functiongemma', 'unsaid', ['gemma']],
  ['gemma4', 'gemma4', 'unsaid', ['gemma']],
  ['openai_gptoss', 'openai', 'unsaid', ['harmony']],
  ['none', 'openai', 'unsaid', ['harmony']],
];

test.each(KINDS)('%s, %s, %s: no word is lost or said twice, whole or in pieces', (reasoning, tools, state, kinds) => {
  const fragment = fc.oneof(...['any', 'think', ...kinds].map((kind) => fc.constantFrom(...FRAGMENTS[kind]!)));
  const answers = fc.array(fragment, { maxLength: 12 }).map((parts) => {
    let count = 0;
    return parts.join('').replaceAll('@', () => `word${++count}.`);
  });
  fc.assert(
    fc.property(answers, fc.boolean(), fc.nat(3), (answer, isStopped, length) => {
      const how = { reasoning, tools, state, definitions: TOOLS };
      const whole = readAnswer(how, [answer], isStopped);
      const pieces = answer.match(new RegExp(`[^]{1,${length + 1}}`, 'g')) ?? [];
      expect(readAnswer(how, pieces, isStopped)).toEqual(whole);
      const said = [whole.reasoning, whole.content, ...whole.calls.flat()].join('\n');
      for (const word of answer.match(/word\d+\./g) ?? []) expect(said.split(word)).toHaveLength(2);
      if (isStopped) for (const [, args] of whole.calls) JSON.parse(args);
    }),
    { seed: 1, numRuns: 1000 },
  );
});
