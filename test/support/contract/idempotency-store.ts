// What every store promises about idempotency keys; part of the storage contract.
import { expect, test } from 'vitest';
import type { Storage } from '#storage/storage';
import { NOW } from './stored-rows.ts';

export function idempotencyContract(open: () => Promise<Storage>): void {
  test('an idempotency key answers again, refuses another body, and is free after a day', async () => {
    const { idempotency } = await open();
    expect(await idempotency.begin('k', 'body', 'r1', NOW)).toEqual({ outcome: 'new', resourceId: 'r1' });
    expect(await idempotency.begin('k', 'body', 'r2', NOW)).toEqual({ outcome: 'in_progress' });
    await idempotency.complete('k', '{"id":1}');
    expect(await idempotency.begin('k', 'body', 'r', NOW + 1)).toEqual({ outcome: 'done', response: '{"id":1}' });
    expect(await idempotency.begin('k', 'other', 'r', NOW + 1)).toEqual({ outcome: 'mismatch' });
    await idempotency.release('k'); // it has an answer and stays
    expect((await idempotency.begin('k', 'body', 'r', NOW + 1)).outcome).toBe('done');
    const aDayLater = NOW + 86_400_000;
    expect(await idempotency.begin('k', 'other', 'r3', aDayLater)).toEqual({ outcome: 'new', resourceId: 'r3' });
    await idempotency.release('k'); // it failed: nothing was made
    expect(await idempotency.begin('k', 'third', 'r4', aDayLater)).toEqual({ outcome: 'new', resourceId: 'r4' });
  });

  test('a request whose server died begins again, after ten minutes or a restart, with the id that it had', async () => {
    const { idempotency } = await open();
    const begin = (key: string, body: string, nowMs: number) => idempotency.begin(key, body, `offered ${nowMs}`, nowMs);
    await idempotency.begin('dead', 'body', 'first', NOW);
    const again = { outcome: 'new', resourceId: 'first' };
    expect(await begin('dead', 'other', NOW + 600_000)).toEqual({ outcome: 'mismatch' });
    expect(await begin('dead', 'body', NOW + 599_999)).toEqual({ outcome: 'in_progress' });
    expect(await begin('dead', 'body', NOW + 600_000)).toEqual(again);
    expect(await begin('dead', 'body', NOW + 600_001)).toEqual({ outcome: 'in_progress' });
    await idempotency.releaseAll();
    expect(await begin('dead', 'body', NOW + 600_002)).toEqual(again);
    await idempotency.complete('dead', 'answer');
    await idempotency.releaseAll();
    expect(await begin('dead', 'body', NOW + 600_003)).toEqual({ outcome: 'done', response: 'answer' });
  });

  test('a released key is free at once, with its id; one that was begun again since is not', async () => {
    const { idempotency } = await open();
    await idempotency.begin('k', 'body', 'first', NOW);
    await idempotency.abandon('k', NOW);
    expect(await idempotency.begin('k', 'body', 'r', NOW + 1)).toEqual({ outcome: 'new', resourceId: 'first' });
    await idempotency.abandon('k', NOW);
    expect(await idempotency.begin('k', 'body', 'r', NOW + 2)).toEqual({ outcome: 'in_progress' });
  });

  test('idempotency keys know nothing of each other', async () => {
    const { idempotency } = await open();
    await idempotency.begin('done', 'body', 'r', NOW);
    await idempotency.complete('done', 'answer');
    await idempotency.begin('slow', 'body', 'r', NOW + 86_300_000);
    await idempotency.begin('other', 'body', 'r', NOW + 87_400_000); // forgets `done`
    await idempotency.complete('slow', 'late answer'); // expired, and not requested since
    expect(await idempotency.begin('slow', 'body', 'r', NOW + 87_400_000)).toEqual({
      outcome: 'done',
      response: 'late answer',
    });
    await idempotency.release('unknown');
    await idempotency.abandon('unknown', NOW);
    await idempotency.complete('unknown', 'answer');
    expect(await idempotency.begin('unknown', 'body', 'r', NOW)).toEqual({ outcome: 'new', resourceId: 'r' });
  });
}
