import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limitSilence } from './silence-limit.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function* pieces(count: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) {
    vi.advanceTimersByTime(900);
    yield new Uint8Array([i]);
  }
}

test('a transfer may take longer than the limit as long as pieces arrive', async () => {
  const silence = limitSilence(1_000);
  let arrived = 0;
  for await (const piece of silence.hear(pieces(10))) arrived += piece.length;
  expect([arrived, silence.signal.aborted]).toEqual([10, false]);
  vi.advanceTimersByTime(1_000);
  expect(silence.signal.reason).toMatchObject({ name: 'TimeoutError', message: 'Nothing arrived for 1 s.' });
});

test('the limit no longer applies after the end', () => {
  const silence = limitSilence(1_000);
  silence.end();
  vi.advanceTimersByTime(5_000);
  expect(silence.signal.aborted).toBe(false);
});
