// Blocks of `{% generation %}`: where they lie in the text, and that the text stays the same.
import { expect, test } from 'vitest';
import { createChatTemplate } from './chat-template.ts';

const clock = { now: () => 0 };
const messages = [
  { role: 'user', content: 'a' },
  { role: 'assistant', content: 'b🙂' },
  { role: 'assistant', content: 'c' },
];
const request = { messages, addGenerationPrompt: false };
const around = (open: string, close: string) =>
  `{% for m in messages %}\n  {% if m.role == 'user' %}U{{ m.content }}\n{% else %}A\n  ${open}\n  {{ m.content }}E\n  ${close}\n{% endif %}{% endfor %}`;

test.each([
  ['plain', '{% generation %}', '{% endgeneration %}'],
  ['that cut white space', '{%- generation -%}', '{%- endgeneration -%}'],
])('tags %s: the text is the same, and the blocks are its parts', (_, open, close) => {
  const template = createChatTemplate({ default: around(open, close) }, new Map(), clock);
  const { text, blocks } = template.renderBlocks(request)!;
  expect(text).toBe(template.render(request));
  expect(blocks.map(({ from, to }) => text.slice(from, to).trim())).toEqual(['b🙂E', 'cE']);
});

test('a template without blocks has none', () => {
  expect(createChatTemplate({ default: 'x' }, new Map(), clock).renderBlocks(request)).toBeNull();
});

test('characters that mark blocks may be part of the conversation', () => {
  const template = createChatTemplate({ default: around('{% generation %}', '{% endgeneration %}') }, new Map(), clock);
  const strange = { ...request, messages: [{ role: 'user', content: '\u{F5F5E}x\u{F5F5F}' }, ...messages.slice(1)] };
  const { text, blocks } = template.renderBlocks(strange)!;
  expect(text).toBe(template.render(strange));
  expect(blocks.map(({ from, to }) => text.slice(from, to).trim())).toEqual(['b🙂E', 'cE']);
});
