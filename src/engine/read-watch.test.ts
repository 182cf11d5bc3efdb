import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchReader } from './read-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched() {
  const changes: boolean[] = [];
  const state = { isBehind: true };
  const watch = watchReader({
    afterMs: 100,
    isBehind: () => state.isBehind,
    onChange: (isUnread) => changes.push(isUnread),
  });
  return { watch, changes, state };
}

test('a reader that takes nothing is noticed, and so is that it takes something again', () => {
  const { watch, changes } = watched();
  watch.offered();
  vi.advanceTimersByTime(99);
  expect(changes).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(changes).toEqual([true]);
  watch.offered();
  watch.taken();
  expect(changes).toEqual([true, false]);
});

test('a slow reader is a reader', () => {
  const { watch, changes } = watched();
  for (let i = 0; i < 10; i++) {
    watch.offered();
    vi.advanceTimersByTime(90);
    watch.taken();
  }
  expect(changes).toEqual([]);
});

test('a reader that has taken everything is waiting for the producer, not stalled', () => {
  const { watch, changes, state } = watched();
  watch.offered();
  state.isBehind = false;
  vi.advanceTimersByTime(1_000);
  expect(changes).toEqual([]);
});

test('nothing is said of a stream that has ended, but that it is not unread', () => {
  const { watch, changes } = watched();
  watch.offered();
  vi.advanceTimersByTime(100);
  watch.close();
  watch.close();
  expect(changes).toEqual([true, false]);
  expect(vi.getTimerCount()).toBe(0);
});
