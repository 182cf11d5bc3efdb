// What it costs to look for a run whose next operation is there. test/support/contract/tinker-store.ts says which run that is.
import { expect, onTestFinished, test } from 'vitest';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import { addModel, NOW } from '../../../test/support/contract/stored-rows.ts';
import { openSqliteStorage } from './open-sqlite.ts';

/** As many operations as a client may have queued, and as many that were refused, in each of a few runs that wait for their first one. */
const RUNS = 5;
const OPERATIONS = 1_000;

test('runs with as many operations as may wait are looked at quickly', async () => {
  const storage = await openSqliteStorage({ path: ':memory:', log: silentLog });
  onTestFinished(() => storage.close());
  const { tinker } = storage;
  const owner = { entity: 'team', keyId: 'k', createdAtMs: NOW };
  await tinker.createSession({ id: 's', ...owner, tags: [], metadata: {}, seenAtMs: NOW, endedAtMs: null });
  for (let run = 0; run < RUNS; run++) {
    const { id: modelId } = await addModel(storage);
    const runId = createId();
    await tinker.createRun({
      id: runId,
      sessionId: 's',
      ...owner,
      modelId,
      baseModel: 'base',
      servedAs: 'alias',
      lora: { rank: 4, seed: 1, attention: true, mlp: false },
      resetsOptimizer: false,
      metadata: {},
      attempt: 0,
      waitingFor: null,
      doneSeq: 0,
      stateSeq: 0,
      stateBlob: null,
      usedAtMs: NOW,
    });
    for (let seq = 2; seq <= OPERATIONS; seq++)
      await tinker.addOperation({
        runId,
        seq,
        kind: 'optim_step',
        bodyHash: 'x',
        body: '{}',
        status: seq <= OPERATIONS / 2 ? 'failed' : 'queued',
        result: null,
        error: null,
        category: null,
        createdAtMs: NOW,
      });
  }
  const times: number[] = [];
  for (let look = 0; look < 5; look++) {
    const beganMs = performance.now();
    expect(await tinker.claimRun('w', { nowMs: NOW, leaseMs: 1_000, gapMs: 500 }, ['base'])).toBeNull();
    times.push(performance.now() - beganMs);
  }
  expect(Math.min(...times)).toBeLessThan(20);
});
