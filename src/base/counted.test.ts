import { expect, test } from 'vitest';
import { counted } from './counted.ts';

test.each([
  [1, 'gradient step', '1 gradient step'],
  [0, 'row', '0 rows'],
  [2, 'trajectory', '2 trajectories'],
  [3, 'key', '3 keys'],
  [2, 'batch', '2 batches'],
])('%d of %s is "%s"', (count, noun, said) => expect(counted(count, noun)).toBe(said));
