// What the fixture of templates cannot hold: seconds of the epoch depend on the machine's time zone, and a width may be too large.
import { expect, test } from 'vitest';
import { strftime } from './strftime.ts';

const date = new Date(2026, 2, 5, 14, 7, 9);
const seconds = String(date.getTime() / 1000);

test.each([
  ['%s', seconds],
  ['%5s', seconds],
  ['%_12s|%-12s', `  ${seconds}|  ${seconds}`],
  ['%012s|%Es', `00${seconds}|${seconds}`],
])('%j is the seconds since 1970', (format, text) => {
  expect(strftime(date, format)).toBe(text);
});

test('a width that no date has is refused, before so much is written', () => {
  expect(() => strftime(date, '%999999999999d')).toThrow('cannot write the width of %999999999999d');
});
