// A short version of `npm run bench -- tinker`, counted in steps and kills: training and sampling clients run together while the
// server, its trainer and its sampler are killed. Nothing hangs, no step is lost or applied twice. Times and memory are not
// checked.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runTinkerLoad } from '../../../bench/tinker-load.ts';
import { skipUnlessLong } from '../../support/skipping.ts';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';

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

const NAME =
  'training and sampling clients during kills: losses, adapters and samples equal those of an undisturbed server';

test(NAME, { timeout: 900_000, ...skipUnlessLong() }, async () => {
  const plan = { until: { stepsEach: 6 }, trainers: 3, samplers: 8, kills: 6, seed: 1, killsUntil: 0.9 };
  const result = await runTinkerLoad(server, plan);
  expect(result).toMatchObject({ lossesApart: 0, adaptersApart: 0, samplesApart: 0, steps: 18 });
  expect(result.kills).toEqual({ training: 2, inference: 2, server: 2 });
  expect(result.samples).toBeGreaterThanOrEqual(8);
});
