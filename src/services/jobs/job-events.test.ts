import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createJobEvents } from './job-events.ts';

const JOBS = 5_000;
const ROUNDS = 6;

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let i = 0; i < 3; i++) collect();
  return process.memoryUsage().heapUsed;
}

test.each([
  ['in vain', 1, false],
  ['until they leave', 60_000, true],
])('nothing is kept of jobs that were waited for %s', async (_, timeoutMs, leaves) => {
  const events = createJobEvents();
  async function waitForAll(round: number): Promise<void> {
    const followers = Array.from({ length: JOBS }, () => new AbortController());
    const waits = followers.map(({ signal }, i) => events.wait(`job-${round}-${i}`, timeoutMs, signal));
    if (leaves) for (const each of followers) each.abort();
    await Promise.all(waits);
  }
  await waitForAll(0); // what is allocated once
  const before = heapBytes();
  for (let round = 1; round <= ROUNDS; round++) await waitForAll(round);
  expect(heapBytes() - before).toBeLessThan(2_000_000);
  events.notify(null); // so that all that it keeps is still in use
});
