// Which fields of messages a job names: those without which the chat template would write the same text, whatever words its source has.
import { expect, test } from 'vitest';
import { readSftLine } from '#rows/sft';
import { createChatTemplate } from '#text/chat-template';
import { createUnusedFields } from './unused-fields.ts';

const SAID = '{{ m.role }}: {{ m.content }}';

function warningsOf(write: string, ...rows: object[]): string[] {
  const source = `{% for m in messages %}${write}\n{% endfor %}`;
  const template = createChatTemplate({ default: source }, new Map(), { now: () => 0 });
  const unused = createUnusedFields({
    renderClosed: (messages, context) => template.render({ messages, ...context, addGenerationPrompt: false }),
  });
  for (const row of rows) {
    const read = readSftLine(JSON.stringify(row));
    if ('problem' in read) throw new Error(read.problem);
    unused.note(read);
  }
  return unused.warnings();
}

const said = (role: string, content: string, more = {}) => ({ role, content, ...more });
const rowOf = (more: object) => ({ messages: [said('user', 'Hi', more), said('assistant', 'Yo')] });
const named = (...fields: string[]) => [`Fields of the training data that are not used: ${fields.join(', ')}.`];

test.each([
  ['in a comment', '{# its name #}'],
  ['in its text', 'name: '],
  ['as a value', "{% if m.role == 'name' %}x{% endif %}"],
  ['of something else', '{% for t in tools or [] %}{{ t.name }}{% endfor %}'],
])('a field whose name stands %s is not read', (_, mention) => {
  expect(warningsOf(mention + SAID, rowOf({ name: 'bob' }))).toEqual(named('messages[].name (1 row)'));
});

test.each([
  '{{ m.name }}',
  "{{ m['name'] }}",
  "{{ m.get('name') }}",
  "{% if 'name' in m %}N{% endif %}",
  '{{ m|tojson }}',
])('a field is read by %s', (read) => {
  expect(warningsOf(read + SAID, rowOf({ name: 'bob' }))).toEqual([]);
});

test('each role with a field must use it', () => {
  const messages = [said('user', 'Hi', { name: 'bob' }), said('assistant', 'Yo', { name: 'al' })];
  const write = `{% if m.role == 'user' %}{{ m.name }}{% endif %}${SAID}`;
  expect(warningsOf(write, rowOf({ name: 'bob' }), { messages })).toEqual(named('messages[].name (1 row)'));
});

test('reasoning is read under any name, and where the turn is the last one', () => {
  const turn = said('assistant', '4', { reasoning: 'two and two' });
  const row = { messages: [said('user', '2 + 2?'), turn, said('user', 'Thanks'), said('assistant', 'Sure')] };
  expect(warningsOf(`{% if loop.last %}{{ m.reasoning_content }}{% endif %}${SAID}`, row)).toEqual([]);
  expect(warningsOf(SAID, row)).toEqual(named('messages[].reasoning (1 row)'));
});

test('fields of calls are read by a template that writes the whole call', () => {
  const called = { name: 'add', arguments: '{}', mood: 1 };
  const row = { messages: [said('user', 'Add.'), { role: 'assistant', tool_calls: [{ function: called }] }] };
  const write = (what: string) => `${SAID}{% for c in m.tool_calls or [] %}{{ ${what} }}{% endfor %}`;
  expect(warningsOf(write('c.function|tojson'), row)).toEqual([]);
  expect(warningsOf(write('c.function.name'), row)).toEqual(named('messages[].tool_calls.function.mood (1 row)'));
});

test('pairs beside messages are named as such', () => {
  const { messages } = rowOf({});
  const row = { prompt: 'Hi', messages, chosen: messages, rejected: [messages[0], said('assistant', 'No')] };
  expect(warningsOf(SAID, row)).toEqual([
    ...named('prompt (1 row)', 'chosen (1 row)', 'rejected (1 row)'),
    expect.stringMatching(/^Preference pairs stand beside the messages of 1 row: .*--dpo/),
  ]);
});

test('later system messages and what is said beside a call are named where the template leaves them out', () => {
  const first = "{% if m.role != 'system' or loop.first %}";
  const call = { function: { name: 'add', arguments: '{}' } };
  const row = {
    messages: [
      said('system', 'Be brief.'),
      said('user', 'Hi'),
      said('system', 'Be long.'),
      said('assistant', 'Let me add.', { tool_calls: [call] }),
      said('tool', '4'),
      said('assistant', '4'),
    ],
  };
  const alone = '{% if m.tool_calls %}{{ m.tool_calls[0].function.name }}{% else %}{{ m.content }}{% endif %}';
  expect(warningsOf(`${first}${alone}{% endif %}`, row)).toEqual([
    'The chat template leaves out parts of the training data: messages of the role system after others (1 row), content beside tool_calls (1 row).',
  ]);
  expect(warningsOf(`${SAID}{% if m.tool_calls %}{{ m.tool_calls[0].function.name }}{% endif %}`, row)).toEqual([]);
});

test('a long conversation with fields in every message is asked about a few of them', () => {
  const messages = Array.from({ length: 400 }, (_, i) =>
    said(i % 2 ? 'assistant' : 'user', 'Hi', { id: i, name: 'x' }),
  );
  let rendered = 0;
  const unused = createUnusedFields({ renderClosed: (of) => String((rendered += of.length)) && 'text' });
  unused.note({ row: { messages, tools: null }, unused: ['id', 'name'].map((field) => ({ of: 'message', field })) });
  expect(rendered).toBeLessThan(40_000);
  expect(unused.warnings()).toEqual(named('messages[].id (1 row)', 'messages[].name (1 row)'));
});
