// A minute of what `npm run bench -- load` does for five: a real server, 512 concurrent chat streams, jobs submitted along the way.
// Every request is answered, none with a 5xx, every job succeeds, and memory stays bounded. Times are not checked.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runLoad } from '../../../bench/load-run.ts';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';

const JOBS = 10;
/** A leak of a kilobyte per token would exceed it; the rest of the minute fills caches, as five minutes show. */
const GROWTH_MAX = 0.25;

let data: string;
let server: ServerProcess;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'whetstone-load-'));
  server = await createServerProcess(data);
  await server.start();
});
afterAll(async () => {
  await server.kill('server').catch(() => {});
  await rm(data, { recursive: true, force: true });
});

test('512 streams at once for a minute, and 10 jobs: no 5xx, nothing broken, nothing lost', async () => {
  const { url, apiKey: key } = server;
  const plan = { seconds: 50, warmUpSeconds: 25, streams: 512, jobs: JOBS, jobsBefore: 0, idleSeconds: 2 };
  const { requests, statuses, broken, jobs, memory } = await runLoad({ url, key, pid: server.pid() }, plan);
  console.log(`${requests} requests, memory ${(100 * memory.growth).toFixed(1)} % more`, memory.growthByProcess);
  expect(requests).toBeGreaterThan(512);
  expect(statuses).toEqual({ '200': requests + JOBS });
  expect(broken).toBe(0);
  expect(jobs).toMatchObject({ submitted: JOBS, succeeded: JOBS });
  expect(memory.growth).toBeLessThan(GROWTH_MAX);
  expect(await server.stop()).toBe(0);
}, 300_000);
