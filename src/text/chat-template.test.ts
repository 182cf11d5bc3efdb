// Behaviour that the golden conversations (test/engine/golden) do not cover: what clients may send, and which templates are accepted.
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import { createChatTemplate, type RenderRequest } from './chat-template.ts';

const clock = { now: () => new Date(2026, 2, 5, 14, 7).getTime() };
const tokens = new Map([
  ['bos_token', '<s>'],
  ['eos_token', '</s>'],
]);

/** A template like ChatML; content is a string. */
const CHATML = `{% for message in messages %}<|{{ message.role }}|>{{ message.content }}{% if message.tool_calls is defined %}{% for call in message.tool_calls %}<call>{{ call.function.name }}:{{ call.function.arguments | tojson }}</call>{% endfor %}{% endif %}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}`;

function render(
  source: string | Record<string, string>,
  messages: ChatMessage[],
  rest: Partial<RenderRequest> = {},
): string {
  const sources = typeof source === 'string' ? { default: source } : source;
  return createChatTemplate(sources, tokens, clock).render({ messages, addGenerationPrompt: false, ...rest });
}

const user = (content: ChatMessage['content']): ChatMessage => ({ role: 'user', content });
const call = (text: string): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: text } }],
});

describe('content', () => {
  const parts = [
    { type: 'text', text: 'one' },
    { type: 'input_text', text: 'two' },
    { type: 'refusal', refusal: 'three' },
  ];

  test('parts are joined by line ends for a template that wants strings', () => {
    expect(render(CHATML, [user(parts)])).toBe('<|user|>one\ntwo\nthree<|end|>');
  });

  const LOOPS = `{% for m in messages %}{% for part in m['content'] %}[{{ part.text }}]{% endfor %}{% endfor %}`;
  test('a template that loops over parts gets parts, from strings as well', () => {
    expect(render(LOOPS, [user(parts), user('four')])).toBe('[one][two][three][four]');
  });

  const ASKS = `{% macro show(content) %}{% if content is string %}{{ content }}{% else %}{% for part in content %}[{{ part.text }}]{% endfor %}{% endif %}{% endmacro %}{% for m in messages %}{{ show(m.content) }}{% endfor %}`;
  test('a template that knows both gets what was sent', () => {
    expect(render(ASKS, [user(parts), user('four')])).toBe('[one][two][three]four');
  });

  test('a loop over something else that is kept in the content does not make a template want parts', () => {
    const calls = `{% set calls = messages[0].content %}{% for call in calls %}{{ call.function }}{% endfor %}{{ messages[0].content + '!' }}`;
    expect(render(calls, [user('x')])).toBe('x!');
  });

  test('a string and one part with the same text render alike, in any role', () => {
    for (const source of [CHATML, LOOPS]) {
      const [string, part] = ['hi', [{ type: 'text', text: 'hi' }]].map((content) =>
        render(source, [{ role: 'critic', content }]),
      );
      expect(part).toBe(string);
    }
  });

  test('an empty part leaves no line in a text', () => {
    const empty = { type: 'text', text: '' };
    expect(render(CHATML, [user([empty, parts[0]!, empty, parts[1]!])])).toBe('<|user|>one\ntwo<|end|>');
    expect(render(LOOPS, [user([empty, parts[0]!])])).toBe('[][one]');
  });

  test('the result of a tool is a text for a template that knows both', () => {
    expect(render(ASKS, [{ role: 'tool', content: parts }])).toBe('one\ntwo\nthree');
    expect(render(LOOPS, [{ role: 'tool', content: 'four' }])).toBe('[four]');
  });

  test.each([
    ['another name for it', `{% macro show(said) %}{% for part in said %}[{{ part.text }}]{% endfor %}{% endmacro %}`],
    ['get()', `{% macro show(said) %}{% for p in said %}[{{ p.get('text') }}]{% endfor %}{% endmacro %}`],
  ])('a macro that loops over parts gets parts: %s', (_, macro) => {
    for (const given of [`m.content`, `said=m['content']`, `m.get('content')`])
      expect(render(`${macro}{% for m in messages %}{{ show(${given}) }}{% endfor %}`, [user('x')])).toBe('[x]');
    const other = `${macro}{% for m in messages %}{{ m.content + '!' }}{{ show(m.parts or []) }}{% endfor %}`;
    expect(render(other, [user('x')])).toBe('x!');
  });

  test('missing content becomes empty content', () => {
    expect(render(CHATML, [{ role: 'assistant', content: null }, { role: 'assistant' }])).toBe(
      '<|assistant|><|end|><|assistant|><|end|>',
    );
  });

  test('a part that is not text is refused and named', () => {
    const image = [
      { type: 'text', text: 'x' },
      { type: 'image_url', image_url: { url: 'data:' } },
    ];
    expect(() => render(CHATML, [user(image)])).toThrow(/messages\[0\]\.content\[1\] has type "image_url"/);
    expect(() => render(CHATML, [user([{ type: 'text' }])])).toThrow(/messages\[0\]\.content\[0\] has no text/);
  });
});

describe('roles', () => {
  test('developer becomes system if the template does not know the role', () => {
    expect(render(CHATML, [{ role: 'developer', content: 'x' }])).toBe('<|system|>x<|end|>');
  });

  test('a developer message that becomes a system message joins those of the conversation, in the first place', () => {
    const messages: ChatMessage[] = [
      { role: 'system', content: 'one', name: 'Ada' },
      user('x'),
      { role: 'developer', content: ['two', 'three'].map((text) => ({ type: 'text', text })) },
      { role: 'system', content: '' },
    ];
    expect(render(CHATML, messages)).toBe('<|system|>one\n\ntwo\nthree<|end|><|user|>x<|end|>');
    const parts = `{% for m in messages %}{{ m.role }}{% for part in m.content %}[{{ part.text }}]{% endfor %}{% endfor %}`;
    expect(render(parts, messages)).toBe('system[one\n\ntwo\nthree]user[x]');
    const systems = messages.filter(({ role }) => role !== 'developer');
    expect(render(CHATML, systems)).toBe('<|system|>one<|end|><|user|>x<|end|><|system|><|end|>');
  });

  test('system messages that a template refuses join the first, where the request says so', () => {
    const strict = `{% for m in messages %}{% if m.role == 'system' and not loop.first %}{{ raise_exception('first!') }}{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}`;
    const messages = [user('x'), { role: 'system', content: 'a' }, user('y'), { role: 'system', content: 'b' }];
    expect(() => render(strict, messages)).toThrow('first!');
    expect(render(strict, messages, { mergesSystem: true })).toBe('<system>ab<user>x<user>y');
    expect(render(CHATML, messages, { mergesSystem: true })).toBe(render(CHATML, messages));
  });

  test('developer is kept if the template knows the role', () => {
    const knows = `{% for m in messages %}{% if m.role == 'developer' %}DEV{% endif %}{{ m.role }}{% endfor %}`;
    expect(render(knows, [{ role: 'developer', content: 'x' }])).toBe('DEVdeveloper');
  });

  test('the name of a speaker and the call of a result travel along', () => {
    const names = `{% for m in messages %}{{ m.name }}{{ m.tool_call_id }}{{ 'null' if 'extra' in m }}{% endfor %}`;
    expect(
      render(names, [
        { ...user('x'), name: 'Ada', extra: null },
        { role: 'tool', content: '3', tool_call_id: 'c1' },
      ]),
    ).toBe('Adac1');
  });

  test('reasoning is available under both of its names, whichever was sent', () => {
    const both = `{% for m in messages %}{{ m.reasoning }}/{{ m.reasoning_content }}{% endfor %}`;
    expect(
      render(both, [
        { role: 'assistant', reasoning: 'a' },
        { role: 'assistant', reasoning_content: 'b' },
      ]),
    ).toBe('a/ab/b');
    expect(render(both, [{ role: 'assistant', reasoning: 'a', reasoning_content: 'b' }])).toBe('a/a');
  });
});

describe('tool calls', () => {
  test('arguments reach the template as an object', () => {
    expect(render(CHATML, [call('{"a":1,"b":[2.0]}')])).toBe(
      '<|assistant|><call>add:{"a": 1, "b": [2.0]}</call><|end|>',
    );
  });

  test('no arguments are an empty object', () => {
    expect(render(CHATML, [call('')])).toBe('<|assistant|><call>add:{}</call><|end|>');
  });

  test('arguments are text for a template that puts them between strings', () => {
    const adds = `{{ '<' + messages[0].tool_calls[0].function.arguments + '>' }}`;
    expect(render(adds, [call('{"a":1}')])).toBe('<{"a":1}>');
    expect(render(adds, [call('')])).toBe('<{}>');
  });

  test('an empty list of calls is no call', () => {
    expect(
      render(`{{ messages[0].tool_calls is defined }}`, [{ role: 'assistant', content: 'x', tool_calls: [] }]),
    ).toBe('False');
  });

  test.each(['{"a":', 'not json', '{"a": "x', '{"a": NaN}', '"', '[1,2]', '42', 'null'])(
    'arguments %j are rendered as they stand',
    (text) => {
      expect(render(CHATML, [user('x'), call(text)])).toContain(`<call>add:${text}</call>`);
      const adds = `{{ '<' + messages[0].tool_calls[0].function.arguments + '>' }}`;
      expect(render(adds, [call(text)])).toBe(`<${text}>`);
    },
  );

  test('a template that walks through arguments gets what can be read of them', () => {
    const walks = `{% for k, v in messages[0].tool_calls[0].function.arguments|items %}{{ k }}={{ v }};{% endfor %}`;
    expect(render(walks, [call('{"a": 1, "b": "x')])).toBe('a=1;b=x;');
    expect(render(walks, [call('{"a": 1, "b"')])).toBe('a=1;');
    expect(render(walks, [call('{"a": [1, {"c": tr')])).toBe('a=[1, {}];');
    expect(render(walks, [call('not json')])).toBe('arguments=not json;');
    expect(render(walks, [call('[1,2]')])).toBe('arguments=[1,2];');
    expect(render(walks, [call('null')])).toBe('');
    expect(render(walks, [call('{"a": NaN, "b": -Infinity}')])).toBe('a=nan;b=-inf;');
  });

  const tools: ToolDefinition[] = [{ type: 'function', function: { name: 'add' } }];
  test('the template named tool_use is for requests with tools', () => {
    const sources = { default: 'plain', tool_use: '{{ tools | length }} tools' };
    expect(render(sources, [user('x')], { tools })).toBe('1 tools');
    expect(render(sources, [user('x')])).toBe('plain');
    expect(render(sources, [user('x')], { tools: [] })).toBe('plain');
  });

  test('a template that reads what tools lack gets null for it, or what its absence means', () => {
    expect(render('{{ tools | tojson }}', [user('x')], { tools })).toContain('"function": {"name": "add"}');
    const writes = '{{ tools[0].function.parameters | tojson }}';
    expect(render(writes, [user('x')], { tools })).toBe('null');
    const adds = `{{ '// ' + tools[0].function.description + (tools[0].function | tojson) }}`;
    expect(render(adds, [user('x')], { tools })).toBe(
      '// {"name": "add", "description": "", "parameters": {"type": "object", "properties": {}}}',
    );
    const refuses = `{{ tools[0].function.parameters | tojson }}{{ raise_exception('No.') }}`;
    expect(() => render(refuses, [user('x')], { tools })).toThrow(/parameters/);
    const both = `{{ tools[0].function.description + messages[0].tool_calls[0].function.arguments.items()|list|string }}`;
    expect(render(both, [call('{"a": 1')], { tools })).toBe("[('a', 1)]");
  });

  test('without tools, the tools variable is none', () => {
    expect(render(`{{ tools is none }}`, [user('x')], { tools: [] })).toBe('True');
  });
});

describe('where the prompt ends', () => {
  const turns = [user('2 + 2?'), { role: 'assistant', content: 'It is ' }];

  test('in a new turn', () => {
    expect(render(CHATML, [user('x')], { addGenerationPrompt: true })).toBe('<|user|>x<|end|><|assistant|>');
  });

  test('inside the last message, right after its content', () => {
    expect(render(CHATML, turns, { continueFinalMessage: true })).toBe('<|user|>2 + 2?<|end|><|assistant|>It is ');
  });

  test('without the spaces that the template trims', () => {
    const trims = CHATML.replace('{{ message.content }}', '{{ message.content | trim }}');
    expect(render(trims, turns, { continueFinalMessage: true })).toBe('<|user|>2 + 2?<|end|><|assistant|>It is');
  });

  test('inside an empty last message', () => {
    expect(render(CHATML, [{ role: 'assistant', content: '' }], { continueFinalMessage: true })).toBe('<|assistant|>');
  });

  test('where a template that looks for the mark of Transformers puts it', () => {
    const looks = `{% for m in messages %}{% set said = m.content %}{% if said.endswith('CONTINUE_FINAL_MESSAGE_TAG ') %}{{ said[:-27] ~ '|' ~ said[-27:] }}{% else %}{{ said }}{% endif %}{% endfor %}`;
    expect(render(looks, turns, { continueFinalMessage: true })).toBe('2 + 2?It is |');
  });

  test('not in a message that the template writes differently', () => {
    const rewrites = `{% for m in messages %}{{ m.content.split('</think>')[-1] }}{% endfor %}`;
    const thinking = [user('x'), { role: 'assistant', content: '<think>so</think>It is' }];
    expect(() => render(rewrites, thinking, { continueFinalMessage: true })).toThrow(/as it was sent/);
  });

  test('not in two places at once, and not in a message that is not rendered', () => {
    expect(() => render(CHATML, turns, { continueFinalMessage: true, addGenerationPrompt: true })).toThrow(/both/);
    expect(() => render(`{{ messages[0].content }}`, turns, { continueFinalMessage: true })).toThrow(/does not appear/);
    expect(() => render(CHATML, [], { continueFinalMessage: true })).toThrow(/no final message/);
  });
});

describe('what a template can use', () => {
  test.each([
    ['named tokens', '{{ bos_token }}x{{ eos_token }}', '<s>x</s>'],
    ['variables of the request', '{{ mood if mood is defined }}', 'calm'],
    ['today', `{{ strftime_now('%d %b %Y, %A, %H:%M') }}`, '05 Mar 2026, Thursday, 14:07'],
    ['ranges', '{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(5, 0, -2) %}{{ i }}{% endfor %}', '012531'],
    ['loop controls', '{% for i in range(9) %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}', '012'],
    [
      'strip with characters',
      `[{{ '\\n a \\n'.strip('\\n') }}][{{ 'xxay'.lstrip('x') }}][{{ 'ayy'.rstrip('y') }}][{{ ' a '.strip() }}]`,
      '[ a ][ay][a][a]',
    ],
    [
      'JSON as Python writes it',
      `{{ {'b': 1.5, 'a': ['é', none, true]} | tojson }}`,
      '{"b": 1.5, "a": ["é", null, true]}',
    ],
    [
      'JSON with options',
      `{{ {'b': 1, 'a': 'é'} | tojson(indent=2, sort_keys=true, ensure_ascii=true) }}`,
      '{\n  "a": "\\u00e9",\n  "b": 1\n}',
    ],
    ['JSON with separators', `{{ [1, {'a': 2}] | tojson(separators=(',', ':')) }}`, '[1,{"a":2}]'],
    [
      'values as Python writes them',
      `{{ none }} {{ true }} {{ 1.0 }} {{ [1, 'a', "it's", none, 0.00000025] }} {{ {'k': (false | string)} }} {{ nothing }}`,
      `None True 1.0 [1, 'a', "it's", None, 2.5e-07] {'k': 'False'} `,
    ],
    ['values joined by ~', `{{ 'a' ~ 1 ~ 2.0 ~ none ~ true ~ [1] }}`, 'a12.0NoneTrue[1]'],
    [
      'letters of strings, and no items of what is undefined',
      `{% for c in 'né' %}{{ c }}-{% endfor %}{% for c in nothing %}x{% else %}none{% endfor %}`,
      'n-é-none',
    ],
    ['dict()', `{{ dict(a=1, b='x') | tojson }}`, '{"a": 1, "b": "x"}'],
    ['its own source, trimmed around blocks', '\n  {% if true %}\n  yes\n  {% endif %}\nend\n', '\n  yes\nend'],
  ])('%s', (_, source, expected) => {
    expect(render(source, [user('x')], { variables: { mood: 'calm' } })).toBe(expected);
  });

  test('the words with which it refuses reach the client', () => {
    const refuses = `{{ raise_exception('Roles must alternate.') }}`;
    expect(() => render(refuses, [user('x')])).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: expect.stringContaining('Roles must alternate.') as string,
      }) as Error,
    );
  });

  test('a value that the template cannot compute is an error of the request, not of the server', () => {
    expect(() => render(`{{ messages[0].content + none }}`, [user('x')])).toThrow(
      expect.objectContaining({ code: 'invalid_request' }) as Error,
    );
    expect(() => render(`{% for i in range(1000000000) %}{% endfor %}`, [user('x')])).toThrow(/Range too big/);
  });
});

test('a template that is not Jinja, or a list without default, is found when the model is opened', () => {
  const open = (sources: Record<string, string>) => () => createChatTemplate(sources, tokens, clock);
  expect(open({ default: '{% if %}' })).toThrow(expect.objectContaining({ code: 'bad_model_files' }) as Error);
  expect(open({ rag: 'x', tool_use: 'y' })).toThrow(/named rag, tool_use; one must be named default/);
});

test("the starter's template writes unknown roles under their own name", async () => {
  const source = await readFile(new URL('../../scripts/starter/chat-template.jinja', import.meta.url), 'utf8');
  const turns = [user('Hi.'), { role: 'critic', content: 'Too short.' }];
  expect(render(source, turns)).toContain('<|im_start|>critic\nToo short.<|im_end|>\n');
});

test('integers beyond 2^53 of a tool stay integers', () => {
  const parameters = { properties: { id: { maximum: 18446744073709551615n, enum: ['1234567890123456789'] } } };
  const tools: ToolDefinition[] = [{ type: 'function', function: { name: 'find', parameters } }];
  expect(render('{{ tools | tojson }}', [user('x')], { tools })).toContain(
    '{"maximum": 18446744073709551615, "enum": ["1234567890123456789"]}',
  );
});

describe('ids of calls', () => {
  const answered = (id: string): ChatMessage[] => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content: 'ok' },
  ];
  const writing = `{% for call in message.tool_calls %}{{ call.id }}{% endfor %}{{ message.tool_call_id }} `;
  const strict = `{% for message in messages %}{% for call in message.tool_calls %}{% if call.id is not defined or call.id|length != 9 %}{{ raise_exception('nine!') }}{% endif %}{% endfor %}${writing}{% endfor %}`;

  test('are shortened for a template that takes nine letters and digits only, for call and result alike', () => {
    const [asked, result] = render(strict, answered('call_0123456789')).trim().split(' ');
    expect(asked).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(result).toBe(asked);
    expect(render(strict, answered('abcDEF789'))).toBe('abcDEF789 abcDEF789 ');
    expect(render(strict, answered('call_x'))).not.toContain(asked);
  });

  test('stay as they are for all others', () => {
    const template = `{% for message in messages %}${writing}{% endfor %}`;
    expect(render(template, answered('call_1'))).toBe('call_1 call_1 ');
  });
});

test('reasoning has the name that the template reads, unless there is content next to calls', () => {
  const template = `{% for message in messages %}{{ message.thinking }}|{{ message.content }};{% endfor %}`;
  const said: ChatMessage = { role: 'assistant', content: 'Yes.', reasoning_content: 'so' };
  expect(render(template, [said])).toBe('so|Yes.;');
  expect(render(template, [{ ...call('{}'), reasoning_content: 'so' }])).toBe('so|;');
  expect(render(template.replace('|', `{{ 'thinking' in message }}`), [{ ...said, reasoning_content: '' }])).toBe(
    'FalseYes.;',
  );
  expect(render(template, [{ ...call('{}'), content: 'I look.', reasoning_content: 'so' }])).toBe('|I look.;');
});

test('a template that looks for tools in its system message finds them there, even if there is no system message', () => {
  const source =
    "{% for message in messages %}{% if message['role'] == 'system' and 'tools' in message and message['tools'] is not none %}{{ '<|system|>' + message['content'] + '<|tool|>' + message['tools'] + '<|/tool|>' }}{% else %}{{ '<|' + message['role'] + '|>' + message['content'] }}{% endif %}{% endfor %}";
  const tools = [
    { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } },
  ] as const;
  const user = { role: 'user', content: 'Hi' };
  const render = (messages: ChatMessage[], given: readonly ToolDefinition[] | null) =>
    createChatTemplate({ default: source }, new Map(), { now: () => 0 }).render({
      messages,
      tools: given,
      addGenerationPrompt: false,
    });
  const listed = '<|tool|>[{"name": "f", "parameters": {"type": "object", "properties": {}}}]<|/tool|>';
  expect(render([user], tools)).toBe(`<|system|>${listed}<|user|>Hi`);
  expect(render([{ role: 'system', content: 'Be brief.' }, user], tools)).toBe(
    `<|system|>Be brief.${listed}<|user|>Hi`,
  );
  expect(render([user], null)).toBe('<|user|>Hi');
});
