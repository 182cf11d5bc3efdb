import { expect, test } from 'vitest';
import { readLoggedObject, valueAt } from './run-json.ts';

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test('a document is read to 128 levels, and brackets in its texts are not levels', () => {
  expect(readLoggedObject(nested(128))).not.toBeNull();
  expect(readLoggedObject(nested(129))).toBeNull();
  expect(readLoggedObject(nested(3_000))).toBeNull();
  expect(readLoggedObject(JSON.stringify({ text: `\\"${'['.repeat(1_000)}` }))).not.toBeNull();
});

test('a value inside an object has the name that the library gives it', () => {
  const row = { 'a.b': 1, a: { b: 2, c: { d: null } } };
  expect(['a.b', 'a.c.d', 'a.c', 'a.d', 'a.b.c', 'constructor'].map((name) => valueAt(row, name))).toEqual([
    1,
    null,
    { d: null },
    undefined,
    undefined,
    undefined,
  ]);
});
