// The order of a fair queue, with work that ends when the test says so.
import { expect, test, vi } from 'vitest';
import { createFairQueue } from './fair-queue.ts';

const LIMITS = { waitMs: 30_000, waitingMax: 128, waitingOfOneMax: 32, refusal: (cause: string) => new Error(cause) };

/** Work that lasts until `end`, and the order in which it started. */
function createWork() {
  const queue = createFairQueue(LIMITS);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    send: (payer: string, name: string, signal?: AbortSignal) =>
      queue.run(
        payer,
        async () => {
          begun.push(name);
          await new Promise<void>((resolve) => ends.set(name, resolve));
        },
        signal,
      ),
    endCurrent: async () => {
      const count = begun.length;
      ends.get(begun.at(-1)!)!();
      await vi.waitFor(() => expect(begun.length).toBeGreaterThan(count));
    },
  };
}

const failure = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);
const sendAll = (send: ReturnType<typeof createWork>['send'], payer: string, count: number, signal?: AbortSignal) => {
  const ends = Array.from({ length: count }, (_, i) => failure(send(payer, `${payer}${i}`, signal)));
  return { ends };
};

test('payers are served round robin, and a newcomer waits for one piece of each other payer', async () => {
  const { send, begun, endCurrent } = createWork();
  sendAll(send, 'a', 4);
  sendAll(send, 'b', 2);
  await endCurrent();
  void send('c', 'c0');
  for (let i = 0; i < 5; i++) await endCurrent();
  expect(begun).toEqual(['a0', 'b0', 'a1', 'c0', 'b1', 'a2', 'a3']);
});

test('a payer who arrives while another works is served before the pieces that the other has sent meanwhile', async () => {
  const { send, begun, endCurrent } = createWork();
  sendAll(send, 'a', 33);
  void send('b', 'b0');
  await endCurrent();
  expect(begun).toEqual(['a0', 'b0']);
});

test('a caller that has left gives up its place', async () => {
  const { send, begun, endCurrent } = createWork();
  sendAll(send, 'a', 1);
  const leaving = new AbortController();
  const { ends: left } = sendAll(send, 'b', 3, leaving.signal);
  void send('c', 'c0');
  leaving.abort(new Error('the client left'));
  for (const end of await Promise.all(left)) expect(String(end)).toContain('the client left');
  await endCurrent();
  expect(begun).toEqual(['a0', 'c0']);
});

test('one payer cannot fill the queue of the others, and all of them together cannot make it unbounded', async () => {
  const { send } = createWork();
  const { ends } = sendAll(send, 'a', 34);
  expect(await ends.at(-1)).toEqual(new Error('crowded'));
  for (const payer of ['b', 'c', 'd']) sendAll(send, payer, 32);
  expect(await failure(send('e', 'e0'))).toEqual(new Error('crowded'));
});

test('a caller that waits too long is refused, and failing work lets the next begin', async () => {
  vi.useFakeTimers();
  try {
    const queue = createFairQueue(LIMITS);
    let fail: (reason: Error) => void;
    const failed = failure(queue.run('a', () => new Promise((_, reject) => (fail = reject))));
    const late = failure(queue.run('a', async () => 'in time'));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await late).toEqual(new Error('late'));
    fail!(new Error('it failed'));
    expect(await failed).toEqual(new Error('it failed'));
    expect(await queue.run('b', async () => 'in time')).toBe('in time');
  } finally {
    vi.useRealTimers();
  }
});
