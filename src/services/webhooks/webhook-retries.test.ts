import { expect, test } from 'vitest';
import { RETRY_PAUSES_MS, retryAtMs } from './webhook-retries.ts';

test('pauses grow, vary by up to a tenth between deliveries, and end', () => {
  const firsts = Array.from({ length: 1_000 }, (_, i) => retryAtMs(`msg_${i}`, 1, 0)!);
  expect(Math.min(...firsts)).toBeGreaterThanOrEqual(4_500);
  expect(Math.min(...firsts)).toBeLessThan(4_600);
  expect(Math.max(...firsts)).toBeLessThanOrEqual(5_500);
  expect(Math.max(...firsts)).toBeGreaterThan(5_400);
  const pauses = RETRY_PAUSES_MS.map((_, i) => retryAtMs('msg', i + 1, 1_000)! - 1_000);
  expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
  expect(retryAtMs('msg', 2, 1_000)).toBe(retryAtMs('msg', 2, 1_000));
  expect(retryAtMs('msg', RETRY_PAUSES_MS.length + 1, 0)).toBeNull();
});
