// Ten seconds of what `npm run bench:tinker` does for five minutes: 8 training and 32 sampling clients at once, while the server, its
// trainer and its sampler are killed. Nothing hangs, and no step is lost or made twice. Times and memory are not looked at.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runTinkerLoad } from '../../bench/tinker-load.ts';
import { createServerProcess, type ServerProcess } from '../crash/server-process.ts';

let data: string;
let server: ServerProcess;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'whetstone-tinker-'));
  server = await createServerProcess(data);
  await server.start();
});
afterAll(async () => {
  await server.kill('server').catch(() => {});
  await rm(data, { recursive: true, force: true });
});

test('8 training and 32 sampling clients beside kills: every client is told the same losses', async () => {
  const kills = ['training', 'inference', 'server'] as const;
  const plan = { seconds: 10, trainers: 8, samplers: 32, kills };
  const result = await runTinkerLoad(server, plan);
  expect(result.disagreements).toBe(0);
  expect(result.steps).toBeGreaterThanOrEqual(16);
  expect(result.samples).toBeGreaterThanOrEqual(32);
  expect(result.kills).toBeGreaterThanOrEqual(1);
}, 600_000);
