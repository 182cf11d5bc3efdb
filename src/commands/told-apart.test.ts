import { expect, test } from 'vitest';
import { toldApart } from './told-apart.ts';

const ASK = 'Which topic is this sentence about: sports, food, weather or music? Answer with one word. ';

test('short texts are shown from their beginning, and cut where there is no room', () => {
  expect(toldApart(['What is 2 + 3?', 'What is 4 + 1?'], 20)).toEqual(['What is 2 + 3?', 'What is 4 + 1?']);
  expect(toldApart(['a much longer question than fits'], 12)).toEqual(['a much lon …']);
  expect(toldApart([], 12)).toEqual([]);
});

test('texts that begin alike are shown from a word before the place where they differ', () => {
  const told = toldApart([`${ASK}The striker won.`, `${ASK}The choir sang.`, `${ASK}Snow fell.`], 40);
  expect(told).toEqual(['… The striker won.', '… The choir sang.', '… Snow fell.']);
});

test('each kind of prompt is compared with its own kind', () => {
  const other = 'Is this review positive or negative? I have to know it before the day ends. ';
  expect(toldApart([`${ASK}One.`, `${ASK}Two.`, `${other}Good.`, `${other}Bad.`], 40)).toEqual([
    '… with one word. One.',
    '… with one word. Two.',
    '… the day ends. Good.',
    '… the day ends. Bad.',
  ]);
});

test('equal texts, and one that another continues, are shown as far as there is something to show', () => {
  expect(toldApart([ASK, ASK], 30)).toEqual(['Which topic is this sentence …', 'Which topic is this sentence …']);
  const told = toldApart([`${ASK}More`, ASK], 30);
  expect(new Set(told).size).toBe(2);
});

test('no line is longer than the room, whatever the texts', () => {
  expect(new Set(toldApart([`${'x'.repeat(150)}y`, `${'x'.repeat(150)}z`], 20)).size).toBe(2);
  const texts = [
    '',
    'x'.repeat(200),
    `${'x'.repeat(150)}y`,
    `${'word '.repeat(40)}a`,
    `${'word '.repeat(40)}b`,
    '\n\t',
  ];
  for (const width of [5, 20, 60])
    for (const each of toldApart(texts, width)) expect(each.length).toBeLessThanOrEqual(width);
});

test('where a text is cut, no half of a character is left', () => {
  const shown = toldApart(['😀'.repeat(40), `a${'😀'.repeat(40)}`], 20);
  expect(shown.join()).not.toMatch(/\p{Cs}/u);
  expect(shown.every(({ length }) => length <= 20)).toBe(true);
});
