// Arguments that are no JSON object, in templates that look into arguments in each way: no template writes what stands for them.
import { expect, test } from 'vitest';
import { createChatTemplate } from './chat-template.ts';
import { createUnreadArguments } from './unread-arguments.ts';

const CUT = '{"city": "Bo';
const render = (write: string, question = 'Hi') => {
  const source = `{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}${write}{% endfor %}{% endfor %}`;
  const tool_calls = [{ type: 'function', function: { name: 'weather', arguments: CUT } }];
  return createChatTemplate({ default: source }, new Map(), { now: () => 0 }).render({
    messages: [
      { role: 'user', content: question },
      { role: 'assistant', content: '', tool_calls },
    ],
    addGenerationPrompt: false,
  });
};

test.each([
  ['as they are', '{{ c.function.arguments }}', CUT],
  ['as JSON', '{{ c.function.arguments|tojson }}', CUT],
  ['with escapes', '{{ c.function.arguments|tojson(ensure_ascii=true)|lower|trim }}', CUT],
  ['key by key', '{% for k in c.function.arguments %}{{ k }}={{ c.function.arguments[k] }};{% endfor %}', 'city=Bo;'],
  ['item by item', '{% for k, v in c.function.arguments.items() %}{{ k }}={{ v }};{% endfor %}', 'city=Bo;'],
  [
    'if they are an object',
    '{{ c.function.name }}{% if c.function.arguments is mapping %}({{ c.function.arguments.city }}){% endif %}',
    'weather(Bo)',
  ],
  ['not at all', '{{ c.function.name }}', 'weather'],
  ['by their number', '{{ c.function.arguments|length }}', '1'],
])('a template that writes them %s', (_, write, written) => {
  expect(render(write)).toBe(`Hi${written}`);
});

test('a template that writes a part of the text is refused with the reason', () => {
  expect(() => render('{{ c.function.arguments[:12] }}')).toThrow(/looks into the arguments of a tool call/);
});

test('a conversation with what would stand for them keeps it', () => {
  const mark = String(createUnreadArguments('mark', () => '').take(CUT));
  for (const said of [mark, mark.slice(0, 25), 'WHETSTONE_ARGUMENTS_0_'])
    expect(render('{{ c.function.arguments }}', said)).toBe(`${said}${CUT}`);
});
