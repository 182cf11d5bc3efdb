// Conversations with calls, in templates like those of each family: the family's parser reads the calls that the template writes.
import { expect, test } from 'vitest';
import type { ToolDefinition } from '#domain/chat';
import { createChatTemplate } from './chat-template.ts';
import { findReasoningSyntax } from './reasoning-parser.ts';
import { findToolSyntax } from './tool-parser.ts';

const CALLS = [
  ['weather', '{"city": "São \\"Paulo\\"", "days": [1, 2], "more": {"a": null, "b": true}}'],
  ['now', '{}'],
] as const;

const properties = { city: { type: 'string' }, days: { type: 'array' }, more: { type: 'object' } };
const tools: ToolDefinition[] = CALLS.map(([name]) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties } },
}));

/** `{{ f.name }}` and `{{ f.arguments }}` of each call, between the start and the end of a turn. */
const turns = (call: string, { begin = '', between = '', end = '' } = {}) =>
  `{% for message in messages %}{{ message.content }}${begin}{% for call in message.tool_calls %}{% set f = call.function %}${call}{% if not loop.last %}${between}{% endif %}{% endfor %}${end}{% endfor %}`;

/** Gemma's literals. */
const gemma = (q: string) =>
  `{% macro value(v) %}{% if v is string %}${q}{{ v }}${q}{% elif v is mapping %}{ {%- for k, e in v|items %}{{ k }}:{{ value(e) }}{% if not loop.last %},{% endif %}{% endfor -%} }{% elif v is iterable %}[{% for e in v %}{{ value(e) }}{% if not loop.last %},{% endif %}{% endfor %}]{% else %}{{ v|tojson }}{% endif %}{% endmacro %}`;
const gemmaCall = (open: string, close: string) =>
  `${open}call:{{ f.name }}{ {%- for k, v in f.arguments|items %}{{ k }}:{{ value(v) }}{% if not loop.last %},{% endif %}{% endfor -%} }${close}`;

const FAMILIES: readonly (readonly [name: string, template: string])[] = [
  ['hermes', turns('\n<tool_call>\n{"name": "{{ f.name }}", "arguments": {{ f.arguments|tojson }}}\n</tool_call>')],
  [
    'llama3_json',
    turns('{"name": "{{ f.name }}", "parameters": {{ f.arguments|tojson }}}', {
      begin: '<|python_tag|>',
      between: '; ',
    }),
  ],
  ['mistral', turns('[TOOL_CALLS]{{ f.name }}[ARGS]{{ f.arguments|tojson }}')],
  ['mistral_list', turns('{{ f|tojson }}', { begin: '[TOOL_CALLS] [', between: ', ', end: ']</s>' })],
  ['phi4_mini_json', turns('<|tool_call|>{{ f|tojson }}<|/tool_call|>')],
  ['granite', turns('{{ f|tojson }}', { begin: '<|tool_call|>[', between: ', ', end: ']' })],
  [
    'openai',
    turns(
      '<|start|>assistant to=functions.{{ f.name }}<|channel|>commentary json<|message|>{{ f.arguments|tojson }}<|call|>',
    ),
  ],
  [
    'qwen3_coder',
    turns(
      '\n<tool_call>\n<function={{ f.name }}>\n{% for k, v in f.arguments|items %}<parameter={{ k }}>\n{{ v if v is string else v|tojson }}\n</parameter>\n{% endfor %}</function>\n</tool_call>',
    ),
  ],
  [
    'seed_oss',
    turns(
      '\n<seed:tool_call>\n<function={{ f.name }}>\n{% for k, v in f.arguments|items %}<parameter={{ k }}>{{ v if v is string else v|tojson }}</parameter>\n{% endfor %}</function>\n</seed:tool_call>',
    ),
  ],
  [
    'olmo3',
    turns(
      '{{ f.name }}({% for k, v in f.arguments|items %}{{ k }}={{ v|tojson }}{% if not loop.last %}, {% endif %}{% endfor %})',
      { begin: '<function_calls>', between: '\n', end: '</function_calls>' },
    ),
  ],
  // Values as Python prints them.
  [
    'pythonic',
    `{# [func_name1(params) #}${turns('{{ f.name }}({% for k, v in f.arguments|items %}{{ k }}={{ v|tojson if v is string else v }}{% if not loop.last %}, {% endif %}{% endfor %})', { begin: '[', between: ', ', end: ']' })}`,
  ],
  ['functiongemma', gemma('<escape>') + turns(gemmaCall('<start_function_call>', '<end_function_call>'))],
  ['gemma4', gemma('<|"|>') + turns(gemmaCall('<|tool_call>', '<tool_call|>'))],
];

test.each(FAMILIES)('%s: calls written by its template are read back', (name, source) => {
  const template = createChatTemplate({ default: source }, new Map(), { now: () => 0 });
  const syntax = findToolSyntax(template.source)!;
  expect(syntax.name).toBe(name);
  const messages = [
    {
      role: 'assistant',
      content: null,
      tool_calls: CALLS.map(([f, text]) => ({ type: 'function', function: { name: f, arguments: text } })),
    },
  ];
  const text = template.render({ messages, addGenerationPrompt: false });
  const thought = findReasoningSyntax(template.source)?.createParser('unsaid');
  const said = thought ? thought.push(text).content + thought.flush().content : text;
  const parser = syntax.createParser(tools);
  const read: [string, string][] = [];
  let content = '';
  for (const delta of [...parser.push(said), ...parser.flush()]) {
    if (delta.kind === 'call') read.push([delta.name, '']);
    else if (delta.kind === 'arguments') read[delta.index]![1] += delta.text;
    else content += delta.text;
  }
  expect(read.map(([f, json]) => [f, JSON.parse(json) as unknown])).toEqual(
    CALLS.map(([f, json]) => [f, JSON.parse(json) as unknown]),
  );
  expect(content.replace('</s>', '')).toBe('');
});

test.each(FAMILIES)('%s: a call that was cut off or botched is history like any other', (name, source) => {
  const template = createChatTemplate({ default: source }, new Map(), { now: () => 0 });
  const written = (text: string) => {
    const calls = [{ type: 'function', function: { name: 'weather', arguments: text } }];
    return template.render({
      messages: [{ role: 'assistant', content: 'Hm.', tool_calls: calls }],
      addGenerationPrompt: false,
    });
  };
  const walks = source.includes('|items');
  for (const text of ['{"city": "Bo', '{"city": "Bo", "da', '{"city": "Bo",, }', 'Bo', '{"city": Bo}'])
    expect(written(text), name).toContain(walks ? 'Bo' : text);
});
