// sl_loop and rl_loop of Tinker's cookbook as published on PyPI, on the starter and offline: sl_loop teaches the format of the
// answers, and rl_loop continues from its last state with losses that both it and this server support. Needs the interpreter that
// WHETSTONE_TINKER_PYTHON names (scripts/python-env.sh tinker).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipUnlessLong, skipWithoutPython } from '../../support/skipping.ts';
import { KEY, MODEL, openStarterServer, type StarterServer } from '../../support/clients/starter-server.ts';
import { layOutRecipeFiles, LOSSES, RECIPE_MODEL, reinforce, teach, type RecipeRunner } from './tinker-recipes.ts';

const python = process.env['WHETSTONE_TINKER_PYTHON'];

const PATIENT = { timeout: 600_000 };
const SUPERVISED = { batch_size: 8, steps: 20 };
const REINFORCED = { batch_size: 4, steps: 12 };

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const firstThird = (values: readonly number[]) => values.slice(0, Math.floor(values.length / 3));
const lastThird = (values: readonly number[]) => values.slice(-Math.floor(values.length / 3));

describe('recipes of the Tinker cookbook', skipWithoutPython('WHETSTONE_TINKER_PYTHON'), () => {
  let directory: string;
  let server: StarterServer;
  let runner: RecipeRunner;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'whetstone-recipes-'));
    server = await openStarterServer(KEY, { tinkerAlias: [`${RECIPE_MODEL}=${MODEL}`] });
    runner = { python: python!, directory, url: server.baseUrl.replace(/\/v1$/, '/tinker'), key: KEY };
    await layOutRecipeFiles(directory, {
      conversations: SUPERVISED.batch_size * SUPERVISED.steps,
      questions: REINFORCED.batch_size * REINFORCED.steps,
    });
  });
  afterAll(async () => {
    await server?.close();
    await rm(directory, { recursive: true, force: true });
  });

  test('sl_loop: answers become likelier', PATIENT, async () => {
    const steps = await teach(runner, { batch_size: SUPERVISED.batch_size, save_every: 10 });
    const losses = steps.map((step) => step['train_mean_nll']!);
    expect(losses).toHaveLength(SUPERVISED.steps);
    expect(mean(lastThird(losses)), losses.join(' ')).toBeLessThan(mean(firstThird(losses)) / 2);
  });

  async function expectRising(loss_fn: (typeof LOSSES)[number]): Promise<void> {
    const about = { batch_size: REINFORCED.batch_size, learning_rate: 2e-3, save_every: 0 };
    const steps = await reinforce(runner, loss_fn, about);
    const rewards = steps.map((step) => step['reward/total']!);
    expect(rewards).toHaveLength(REINFORCED.steps);
    // The median, because at a learning rate for so few steps one of them may overshoot and the next one recover.
    expect(median(lastThird(rewards)), rewards.join(' ')).toBeGreaterThan(mean(firstThird(rewards)) + 0.2);
  }
  const [first, ...others] = LOSSES;
  test(`rl_loop: rewards rise with ${first}`, PATIENT, () => expectRising(first));
  test.each(others)('rl_loop: rewards rise with %s', { ...PATIENT, ...skipUnlessLong() }, expectRising);
});
