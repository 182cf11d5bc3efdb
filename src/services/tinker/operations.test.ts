import { expect, test } from 'vitest';
import { systemClock } from '#base/clock';
import { openTinkerWorld } from '../../../test/support/tinker-world.ts';
import { aCaller } from '../../../test/support/a-caller.ts';
import { createOperations, type NewOperation } from './operations.ts';

const MOST = 8_192;

test('a step that is never taken ends: its log would be computed again after each restart', async () => {
  const { storage, blobs, runEvents, addRun } = await openTinkerWorld();
  const run = await addRun({ doneSeq: MOST - 1 });
  const limits = { storing: () => Promise.reject(new Error('stores nothing')) };
  const sessions = { getRun: async () => (await storage.tinker.findRun(run.id))! };
  const operations = createOperations({ storage, blobs, limits, sessions, runEvents, clock: systemClock, waitMs: 0 });
  const submit = (seq: number, kind: NewOperation['kind']) =>
    operations.submit(aCaller(), { runId: run.id, seq, kind, body: {}, request: null });
  const refuse = (seq: number) =>
    operations.refuse(aCaller(), { runId: run.id, seq, kind: 'forward_backward' }, 'too long');

  await expect(submit(MOST, 'forward_backward')).resolves.toBe(`${run.id}/${MOST}`);
  for (const kind of ['forward_backward', 'save_weights'] as const)
    await expect(submit(MOST + 1, kind)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(`${MOST} requests of ${run.id} have followed its last optim_step`) as unknown,
    });
  await refuse(MOST + 1);
  expect(await storage.tinker.findOperation(run.id, MOST + 1)).toMatchObject({ status: 'failed' });
  await expect(submit(MOST + 2, 'optim_step')).resolves.toBe(`${run.id}/${MOST + 2}`);
  await expect(submit(MOST + 3, 'load')).resolves.toBe(`${run.id}/${MOST + 3}`);
});

test('refusals are no log without end either', async () => {
  const { storage, blobs, runEvents, addRun } = await openTinkerWorld();
  const run = await addRun({ doneSeq: MOST + 999 });
  const limits = { storing: () => Promise.reject(new Error('stores nothing')) };
  const sessions = { getRun: async () => run };
  const operations = createOperations({ storage, blobs, limits, sessions, runEvents, clock: systemClock, waitMs: 0 });
  for (const seq of [MOST + 1_000, MOST + 1_001])
    await operations.refuse(aCaller(), { runId: run.id, seq, kind: 'forward_backward' }, 'too long');
  expect((await storage.tinker.listOperations(run.id, 0, 10)).map(({ seq }) => seq)).toEqual([MOST + 1_000]);
});
