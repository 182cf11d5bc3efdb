import { expect, test } from 'vitest';
import { createPromptFolding, createPromptUnfolding } from './folded-prompts.ts';

test('prompts unfold unchanged whether longer, shorter or different, even if folded twice', () => {
  const prompts = [[1, 2, 3], [1, 2, 3, 4, 5], [1, 2], [9, 2], [9, 2], []];
  const folded = prompts.map(createPromptFolding());
  expect(folded.map(createPromptUnfolding())).toEqual(prompts);
  expect(folded.map(createPromptFolding())).toEqual(folded);
});

test('stored size grows with the conversation, not with its square', () => {
  const sizeOf = (turns: number) => {
    const prompts = Array.from({ length: turns }, (_, i) => new Array<number>(100 * (i + 1)).fill(12345));
    return JSON.stringify(prompts.map(createPromptFolding())).length;
  };
  expect(sizeOf(100)).toBeLessThan(11 * sizeOf(10));
});
