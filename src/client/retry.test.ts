import { expect, test } from 'vitest';
import { insist } from './retry.ts';

test('the reason of an abort during the last attempt is thrown, not the error of that attempt', async () => {
  const stopped = new AbortController();
  let asked = 0;
  async function ask(): Promise<never> {
    if (++asked === 2) stopped.abort(new Error('the file cannot be read'));
    throw Object.assign(new TypeError('fetch failed'), { retryAfterMs: 0 });
  }
  await expect(insist(ask, stopped.signal, () => {}, { attemptsMax: 2 })).rejects.toThrow('the file cannot be read');
  expect(asked).toBe(2);
});

test('damaged data is not asked for again', async () => {
  let asked = 0;
  const damaged = Object.assign(new Error('the stored bytes have changed'), { status: 500, code: 'damaged_data' });
  await expect(insist(async () => Promise.reject((asked++, damaged)), undefined)).rejects.toBe(damaged);
  expect(asked).toBe(1);
});
