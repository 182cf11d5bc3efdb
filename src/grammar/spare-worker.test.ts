// Which requests wait for the start of a thread, and which do not.
import { expect, test, vi } from 'vitest';
import { silentLog } from '#base/log';
import { startGrammarWorker, type GrammarWorker } from './grammar-worker.ts';
import { createSpareWorker } from './spare-worker.ts';

const data = {
  vocabulary: { bytes: Uint8Array.of(97), offsets: Uint32Array.of(0, 1, 1) },
  vocabSize: 2,
  stopTokenIds: [1],
  grammarsMax: 4,
  workMax: 1_000,
};

test('one started thread is always kept in reserve', async () => {
  const workers: GrammarWorker[] = [];
  const spare = createSpareWorker(() => {
    const worker = startGrammarWorker(data, silentLog);
    workers.push(worker);
    return worker;
  });
  const first = spare.take();
  expect(workers).toEqual([first]);
  await first.started;
  await expect.poll(() => workers.length).toBe(2);
  await workers[1]!.started;
  expect(spare.take()).toBe(workers[1]);
  await expect.poll(() => workers.length).toBe(3);
  await workers[2]!.end(); // like a lost thread
  expect(spare.take()).toBe(workers[3]);
  await workers[3]!.started;
  await expect.poll(() => workers.length).toBe(5);
  await spare.close();
  expect(workers[4]!.lost).toBe(true);
  await Promise.all(workers.map((worker) => worker.end()));
});

test('a thread that does not start in time is lost, and no request is blamed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const worker = startGrammarWorker(data, silentLog);
    const answer = worker.ask(
      { kind: 'compile', id: 1, grammar: { key: 'a', constraint: { kind: 'regex', source: 'a' } } },
      1_000,
    );
    vi.advanceTimersByTime(60_000);
    expect(await answer).toBe('lost');
    expect(worker).toMatchObject({ lost: true, guilty: 0 });
  } finally {
    vi.useRealTimers();
  }
});
