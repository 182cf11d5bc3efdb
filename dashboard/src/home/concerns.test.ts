import { expect, test } from 'vitest';
import type { JobDetail } from '../api/wire.ts';
import { concernsOf, type NewestJob } from './concerns.ts';

const job = (id: string, status: string, model = 'm') => ({ id, status, model: { id: model } }) as NewestJob;
const detail = (warnings: readonly string[], error_message: string | null = null) =>
  ({ warnings, error_message }) as JobDetail;

test('failed jobs come first; a warning shared by several jobs of a model is listed once, for the newest', () => {
  const newest = [job('3', 'succeeded'), job('2', 'succeeded'), job('1', 'failed'), job('0', 'succeeded', 'other')];
  const details = new Map([
    ['3', detail(['equal'])],
    ['2', detail(['equal', 'too fast'])],
    ['1', detail([], 'out of memory')],
    ['0', detail(['equal'])],
  ]);
  const shown = concernsOf(newest, details).map(({ kind, text, also, job: { id } }) => [kind, id, text, also]);
  expect(shown).toEqual([
    ['failed', '1', 'out of memory', 0],
    ['warned', '3', 'equal', 1],
    ['warned', '2', 'too fast', 0],
    ['warned', '0', 'equal', 0],
  ]);
  expect(concernsOf(newest.slice(0, 2), new Map())).toEqual([]);
});
