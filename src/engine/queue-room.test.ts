import { expect, test } from 'vitest';
import { findRoom } from './queue-room.ts';

const MAX = 4096;
const fits = (size: number, all: number, ofPayer: number, max = MAX) => {
  try {
    findRoom(size, { all, ofPayer }, max);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 5 });
    return false;
  }
};

test('whoever fills a queue leaves room for the next payer, and the next for one after that', () => {
  let all = 0;
  for (let payer = 0; payer < 5; payer++) {
    let own = 0;
    while (fits(1, all, own)) [all, own] = [all + 1, own + 1];
    expect(own, `payer ${payer}`).toBeGreaterThan(0);
  }
  expect(all).toBeLessThanOrEqual(MAX);
});

test('a queue of one place can be filled, and the largest request fits an empty one', () => {
  expect(fits(1, 0, 0, 1)).toBe(true);
  expect(fits(1, 1, 1, 1)).toBe(false);
  expect(fits(128, 0, 0)).toBe(true);
});

test('a refusal says how much waits, of whom, and for how much there is room', () => {
  expect(() => findRoom(128, { all: 3_000, ofPayer: 3_000 }, MAX)).toThrow(
    'The queue is full: 3000 choices wait or are computed for this key, and there is room for 3072. Try again later.',
  );
  expect(() => findRoom(128, { all: 3_500, ofPayer: 500 }, MAX)).not.toThrow();
  expect(() => findRoom(128, { all: 4_000, ofPayer: 1_000 }, MAX)).toThrow(
    '4000 choices wait or are computed, 1000 of them for this key, for which there is room for 822.',
  );
});
