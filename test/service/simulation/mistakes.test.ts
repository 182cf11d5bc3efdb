// Each mistake that `npm run test:mistakes` plants still fits the sources: its texts occur once.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { editedFiles, MISTAKES } from './mistakes.ts';

test.each(MISTAKES)('it can still be planted: $name', (mistake) => {
  for (const { file, edits } of editedFiles(mistake)) {
    const text = readFileSync(new URL(`../../../src/${file}`, import.meta.url), 'utf8');
    for (const [from] of edits) expect(text.split(from).length - 1, from).toBe(1);
  }
});

test('no two mistakes have one name', () => {
  expect(new Set(MISTAKES.map(({ name }) => name)).size).toBe(MISTAKES.length);
});
