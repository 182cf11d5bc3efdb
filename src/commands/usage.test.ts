import { expect, test } from 'vitest';
import type { UsageSum } from '#client/client';
import { linesOfUsage } from './usage.ts';

const amounts = { requests: 2, prompt_tokens: 30, cached_tokens: 10, completion_tokens: 4, total_tokens: 34 };
const sum: UsageSum = { ...amounts, model: null, api_key_id: null, project: null, date: null };
const inCells = (lines: readonly string[]) => lines.map((line) => line.split(/ {2,}/));

test('a row for each sum, with the names that people use, and one for all', () => {
  const sums = [
    { ...sum, model: 'wandb-artifact:///team/demo/sums', date: '2026-11-21' },
    { ...sum, model: 'whetstone/starter', date: '2026-11-22' },
  ];
  const totals = { ...amounts, requests: 4, total_tokens: 68 };
  expect(inCells(linesOfUsage(['model', 'day'], sums, totals))).toEqual([
    ['MODEL', 'DAY', 'REQUESTS', 'PROMPT', 'CACHED', 'COMPLETION', 'TOKENS'],
    ['demo/sums', '2026-11-21', '2', '30', '10', '4', '34'],
    ['whetstone/starter', '2026-11-22', '2', '30', '10', '4', '34'],
    ['all', '4', '30', '10', '4', '68'],
  ]);
});

test('requests without a project have a row', () => {
  expect(inCells(linesOfUsage(['project'], [{ ...sum, project: '' }], amounts))[1]![0]).toBe('-');
});

test('no requests yet', () => {
  expect(linesOfUsage(['model'], [], { ...amounts, requests: 0 })).toEqual(['No usage.']);
});
