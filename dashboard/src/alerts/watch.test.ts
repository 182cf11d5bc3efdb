import { expect, test } from 'vitest';
import type { JobDetail, JobOfModel } from '../api/wire.ts';
import { alertsOf, endedSince, rememberLook } from './watch.ts';

const job = (id: string, status: string) => ({ id, status, model: { id: 'm' } }) as JobOfModel;
const detail = (id: string, status: string, warnings: readonly string[] = [], error_message: string | null = null) =>
  ({ id, status, warnings, error_message }) as JobDetail;
const look = (running: readonly JobOfModel[], newest: readonly JobOfModel[]) => ({
  ...{ running: [...running], queued: [], newest: [...newest] },
});

test('a job that ran and failed is told, with what went wrong; one that failed before the page was opened is not', () => {
  const first = rememberLook(null, look([job('a', 'running')], [job('a', 'running'), job('old', 'failed')]), [], []);
  const now = look([], [job('a', 'failed'), job('old', 'failed')]);
  const ended = endedSince(first, now);
  expect(ended.map(({ id }) => id)).toEqual(['a']);
  const details = [detail('a', 'failed', [], 'out of memory')];
  expect(alertsOf([], ended, details, []).map(({ kind, text }) => [kind, text])).toEqual([['failed', 'out of memory']]);
  expect(endedSince(rememberLook(first, now, details, []), now)).toEqual([]); // told once
});

test('a job that began and ended between two looks is told, with its warnings', () => {
  const first = rememberLook(null, look([], []), [], []);
  const ended = endedSince(first, look([], [job('b', 'succeeded')]));
  const found = alertsOf([], ended, [detail('b', 'succeeded', ['The mean reward fell.'])], []);
  expect(found.map(({ kind, text, job: of }) => [kind, text, of?.id])).toEqual([
    ['warned', 'The mean reward fell.', 'b'],
  ]);
});

test('a job that only left a short list goes on being watched', () => {
  const first = rememberLook(null, look([job('a', 'running')], []), [], []);
  const details = [detail('a', 'running')];
  expect(alertsOf([], endedSince(first, look([], [])), details, [])).toEqual([]);
  expect([...rememberLook(first, look([], []), details, []).open.keys()]).toEqual(['a']);
});

test('of jobs that end in a flood the rest is told at the next look', () => {
  const first = rememberLook(null, look([job('a', 'running')], []), [], []);
  const now = look([], [job('b', 'failed')]);
  const [asked, ...left] = endedSince(first, now);
  expect([asked!.id, ...left.map(({ id }) => id)]).toEqual(['a', 'b']);
  const second = rememberLook(first, now, [detail('a', 'failed')], [], left);
  expect(endedSince(second, now).map(({ id }) => id)).toEqual(['b']);
  expect(endedSince(rememberLook(second, now, [detail('b', 'failed')], []), now)).toEqual([]);
});

test('a worker that goes away or is gone is told, one that was asked to leave is not', () => {
  const worker = (id: string, state: 'connected' | 'away' | 'draining') => ({ id, name: `w${id}`, state });
  const before = [worker('1', 'connected'), worker('2', 'connected'), worker('3', 'draining'), worker('4', 'away')];
  const now = [worker('1', 'away'), worker('4', 'away')];
  expect(alertsOf(before, [], [], now).map(({ text }) => text)).toEqual([
    'The worker w1 does not answer. It is expected to reconnect.',
    'The worker w2 is no longer connected.',
  ]);
});
