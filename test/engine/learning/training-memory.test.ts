// The memory for training is one budget, shared by everything that a session computes in turn, and freed when it closes.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FROM_SOURCE } from '../../support/cli-command.ts';
import { writeTinyModel, type TinyModel } from '../../support/serving/tiny-model.ts';

const BUDGET = 500e6;

let model: TinyModel;
beforeAll(async () => {
  model = await writeTinyModel('qwen3', 1, 4096);
});
afterAll(() => model.remove());

test('successive losses and log-probabilities stay within one budget, which a closed session releases', () => {
  const script = fileURLToPath(new URL('./memory-child.ts', import.meta.url));
  const child = spawnSync(process.execPath, [...FROM_SOURCE, '--expose-gc', script, model.directory, String(BUDGET)], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  expect(child.status, child.stderr).toBe(0);
  const { working, closed } = JSON.parse(child.stdout) as { working: number[]; closed: number };
  expect(working[0]!).toBeGreaterThan(BUDGET / 4); // otherwise the row is too short to prove anything
  expect(Math.max(...working), `${working.join(', ')}`).toBeLessThan(BUDGET);
  expect(closed).toBeLessThan(BUDGET / 4);
}, 120_000);
