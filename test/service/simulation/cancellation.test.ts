// A cancellation and a claim of one job at the same moment, on two servers over one database: whichever is first, the other one sees it.
import { beforeAll, expect, test } from 'vitest';
import { auditRows } from './audit.ts';
import { createScheduler, inProcess } from './scheduler.ts';
import { openSharedDatabase, type SharedDatabase } from './shared-database.ts';

let database: SharedDatabase;
beforeAll(async () => {
  database = await openSharedDatabase();
});

const closing = { id: 'e', jobId: 'j', ordinal: 0, type: 'training_failed', data: {}, createdAtMs: 0 } as const;

test('a job is either claimed and then asked to stop, or cancelled and never claimed', async () => {
  const outcomes = new Set<string>();
  for (let seed = 0; seed < 100; seed++) {
    await database.clear();
    const scheduler = createScheduler(seed, 0);
    const [client, runner] = [scheduler.spawn('client'), scheduler.spawn('runner')];
    const run = async <T>(work: () => Promise<T>): Promise<T> => {
      let done: { value: T } | null = null;
      const working = work().then((value) => (done = { value }));
      await scheduler.runUntil(() => done !== null, 600_000);
      return (await working).value;
    };
    const [mine, other] = await run(() =>
      Promise.all([client, runner].map((each) => inProcess(each, () => database.connect(scheduler, 'shared')))),
    );
    await run(() =>
      inProcess(client, async () => {
        const zero = { id: 'c', modelId: 'm', step: 0, metrics: {}, blobPrefix: 'b', fresh: true, createdAtMs: 0 };
        const named = { id: 'm', entity: 'team', project: 'p', name: 'm', baseModel: 'tiny', runId: null };
        await mine!.models.create({ ...named, createdAtMs: 0 }, zero);
        const job = { id: 'j', type: 'rl', modelId: 'm', entity: 'team', keyId: 'k', bodyBlob: 'b' } as const;
        await mine!.jobs.create({ ...job, createdAtMs: 0 });
      }),
    );
    const aMoment = () => scheduler.wait('a moment', scheduler.random.next() * 30, () => undefined);
    const [answer, claimed] = await run(() =>
      Promise.all([
        inProcess(client, async () => {
          await aMoment();
          return mine!.jobs.requestCancel('j', 1, closing);
        }),
        inProcess(runner, async () => {
          await aMoment();
          return other!.jobs.claim('w', 1, 20_000, null);
        }),
      ]),
    );
    await auditRows(database);
    expect(answer, `seed ${seed}`).toBe(claimed ? 'cancelling' : 'cancelled');
    outcomes.add(answer);
    scheduler.end();
  }
  expect([...outcomes].sort()).toEqual(['cancelled', 'cancelling']);
});
