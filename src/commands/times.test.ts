import { expect, test } from 'vitest';
import { ago, lasting } from './times.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

test.each([
  ['2026-03-01T11:59:30Z', 'just now'],
  ['2026-03-01T12:00:05Z', 'just now'], // the clocks of two machines differ
  ['2026-03-01T11:58:59Z', '1 min ago'],
  ['2026-03-01T09:30:00Z', '2 h ago'],
  ['2026-02-26T12:00:00Z', '3 d ago'],
  ['2025-12-24T12:00:00Z', '2025-12-24'],
])('%s was %s', (time, said) => expect(ago(time, NOW)).toBe(said));

test.each([
  [0.42, '0.4 s'],
  [9.97, '10 s'],
  [89, '89 s'],
  [600, '10 min'],
  [7_200, '2.0 h'],
])('%d seconds are %s', (seconds, said) => expect(lasting(seconds)).toBe(said));
