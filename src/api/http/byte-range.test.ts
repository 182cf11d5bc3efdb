import { expect, test } from 'vitest';
import { beginning, readRange } from './byte-range.ts';

const ETAG = '"abc"';
const range = (text: string | undefined, ifRange?: string, size = 10) =>
  readRange(
    { ...(text === undefined ? {} : { range: text }), ...(ifRange === undefined ? {} : { 'if-range': ifRange }) },
    size,
    ETAG,
  );

test.each([
  ['bytes=0-3', { first: 0, last: 3 }],
  ['bytes=4-', { first: 4, last: 9 }],
  ['bytes=4-99', { first: 4, last: 9 }],
  ['bytes=-3', { first: 7, last: 9 }],
  ['bytes=-99', { first: 0, last: 9 }],
  ['bytes=9-9', { first: 9, last: 9 }],
  ['bytes=10-', 'beyond'],
  ['bytes=-0', 'beyond'],
  [undefined, null],
  ['bytes=3-2', null],
  ['bytes=-', null],
  ['bytes=0-1,4-5', null],
  ['lines=0-1', null],
  ['bytes=0x1-', null],
])('%s of 10 bytes', (text, expected) => {
  expect(range(text)).toEqual(expected);
});

test('of an empty file every range is beyond', () => {
  expect([range('bytes=0-', undefined, 0), range('bytes=-5', undefined, 0)]).toEqual(['beyond', 'beyond']);
});

test('If-Range of another file, a date, or a weak tag gets the whole file', () => {
  expect(range('bytes=4-', ETAG)).toEqual({ first: 4, last: 9 });
  for (const other of ['"abd"', 'W/"abc"', 'Wed, 21 Oct 2026 07:28:00 GMT'])
    expect(range('bytes=4-', other)).toBeNull();
});

test('bytes after a range are not read', async () => {
  const given: number[] = [];
  async function* pieces() {
    for (const start of [0, 3, 6, 9]) {
      given.push(start);
      yield Uint8Array.from([0, 1, 2], (i) => start + i);
    }
  }
  const parts: number[] = [];
  for await (const part of beginning(pieces(), 7)) parts.push(...part);
  expect([parts, given]).toEqual([
    [0, 1, 2, 3, 4, 5, 6],
    [0, 3, 6],
  ]);
});
