// Structural tags as XGrammar has them: what a format says is enforced, or refused by the field's name.
import { expect, test } from 'vitest';
import { createConstraintEngine } from './constraint-engine.ts';
import { maskWords } from './thread-messages.ts';

/** A token for each byte, and the one that ends the text. */
const STOP = 256;
const vocabulary = {
  bytes: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  offsets: Uint32Array.from({ length: 258 }, (_, id) => Math.min(id, 256)),
};
const compiled = (format: object) =>
  createConstraintEngine({ vocabulary, vocabSize: 257, stopTokenIds: [STOP] }).compile({
    kind: 'structural_tag',
    source: JSON.stringify({ type: 'structural_tag', format }),
  });

function accepts(format: object, text: string): boolean {
  const written = compiled(format).begin();
  const mask = new Int32Array(maskWords(257));
  for (const byte of Buffer.from(text)) if (!written.accept(byte)) return false;
  written.writeMask(mask);
  return ((mask[STOP >> 5]! >>> (STOP & 31)) & 1) === 1;
}

const NUMBER = { type: 'json_schema', json_schema: { type: 'integer' } };
const TAG = { begin: '<n>', content: NUMBER, end: '</n>' };

test('excluded texts do not occur in free text', () => {
  const free = { type: 'any_text', excludes: ['</think>', 'no'] };
  expect(accepts(free, 'yes, n o')).toBe(true);
  expect(accepts(free, 'nobody')).toBe(false);
  const inside = { type: 'tag', begin: '<a>', content: { type: 'any_text', excludes: ['b'] }, end: '</a>' };
  expect([accepts(inside, '<a>c</a>'), accepts(inside, '<a>cb</a>'), accepts(inside, '<a></a>x')]).toEqual([
    true,
    false,
    false,
  ]);
  const triggered = { type: 'triggered_tags', triggers: ['<n'], tags: [TAG], excludes: ['no'] };
  expect(accepts(triggered, 'so <n>1</n> and <n>2</n>')).toBe(true);
  for (const text of ['no', 'no <n>1</n>', '<n>1</n> no', '<n>x</n>'])
    expect(accepts(triggered, text), text).toBe(false);
});

test('at least one tag: the first begins the text', () => {
  const some = { type: 'triggered_tags', triggers: ['<n'], tags: [TAG], at_least_one: true };
  expect(accepts(some, '<n>1</n> and <n>2</n>.')).toBe(true);
  const one = { ...some, stop_after_first: true };
  expect(accepts(one, '<n>1</n>')).toBe(true);
  for (const text of ['', 'so', 'so <n>1</n>'])
    expect([accepts(some, text), accepts(one, text)], text).toEqual([false, false]);
  expect(accepts(one, '<n>1</n> and')).toBe(false);
});

test('a format may be repeated', () => {
  const times = (text: string, more: object) =>
    [0, 1, 2, 3, 4].filter((count) =>
      accepts({ content: { type: 'const_string', value: 'ab' }, ...more }, text.repeat(count)),
    );
  expect(times('ab', { type: 'optional' })).toEqual([0, 1]);
  expect(times('ab', { type: 'star' })).toEqual([0, 1, 2, 3, 4]);
  expect(times('ab', { type: 'plus' })).toEqual([1, 2, 3, 4]);
  expect(times('ab', { type: 'repeat', min: 2, max: 3 })).toEqual([2, 3]);
  expect(times('ab', { type: 'repeat', min: 2, max: -1 })).toEqual([2, 3, 4]);
  const nothing = { type: 'star', content: { type: 'optional', content: { type: 'any_text' } } };
  expect(accepts({ type: 'plus', content: nothing }, 'ab')).toBe(true);
});

test('what a client’s library writes for “nothing” is nothing', () => {
  const said = { style: 'json', any_order: false, max_whitespace_cnt: null, excludes: [] };
  expect(accepts({ ...NUMBER, ...said }, '12')).toBe(true);
  expect(accepts({ type: 'any_text', excludes: [], max_tokens: null, max_chars: null }, 'no')).toBe(true);
});

test.each([
  [{ ...NUMBER, style: 'qwen_xml' }, '`style` of a json_schema is not supported'],
  [{ ...NUMBER, excludes: ['1'] }, '`excludes` of a json_schema'],
  [{ ...NUMBER, max_whitespace_cnt: 0 }, '`max_whitespace_cnt` of a json_schema'],
  [{ type: 'any_text', max_chars: 5 }, '`max_chars` of a any_text'],
  [{ type: 'any_text', excludes: 'no' }, '`excludes` must be a list of texts'],
  [{ type: 'sequence', elements: [{ type: 'tag', ...TAG, note: 1 }] }, '`note` of a tag'],
  [{ type: 'tag', ...TAG, end: [] }, '`end` of a tag must not be an empty list'],
  [{ type: 'tag', ...TAG, end: [1] }, '`end` must be a list of texts'],
  [{ type: 'repeat', content: NUMBER, min: 2, max: 1 }, '`min` and `max` of a repeat'],
  [{ type: 'token', token: 5 }, '`token` is not a format of structural tags here'],
  [{ type: 'triggered_tags', triggers: [''], tags: [TAG] }, '`triggers` must be a list of texts'],
  [{ type: 'triggered_tags', triggers: ['<n'], tags: [TAG], loop: true }, '`loop` of a triggered_tags'],
])('%j is refused', (format, reason) => {
  expect(() => compiled(format)).toThrow(reason);
});
