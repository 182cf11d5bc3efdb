import { expect, test } from 'vitest';
import { readLoggedObject } from './run-json.ts';

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test('a document is read to 128 levels, and brackets in its texts are not levels', () => {
  expect(readLoggedObject(nested(128))).not.toBeNull();
  expect(readLoggedObject(nested(129))).toBeNull();
  expect(readLoggedObject(nested(3_000))).toBeNull();
  expect(readLoggedObject(JSON.stringify({ text: `\\"${'['.repeat(1_000)}` }))).not.toBeNull();
});
