import { expect, test } from 'vitest';
import { createNeeding } from '../../support/contract/needing.ts';

const needing = createNeeding('an engine that declares one of two');
const ran: string[] = [];

needing('telepathy', true)('what is declared is tested', () => void ran.push('declared'));
needing('levitation', false)('what is not declared is not', () => void ran.push('not declared'));
needing('levitation', false).each([1, 2])('nor is it in %i ways', () => void ran.push('not declared'));

test('only what is declared ran', () => {
  expect(ran).toEqual(['declared']);
});
