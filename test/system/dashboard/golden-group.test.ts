// The golden RL job, run by the job runner over the golden model, on the page of its groups: the numbers of every token on the
// page equal PyTorch's in fixtures/rl.
import { fileURLToPath } from 'node:url';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openDashboard } from '#api/description/dashboard';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingEngine } from '#engine/training-engine';
import { aCaller } from '../../support/a-caller.ts';
import { ableTrainer, aJobRunner, noSampler } from '../../support/a-job-runner.ts';
import { BASE, BOOTSTRAP_KEY, openTestServer, type TestServer } from '../../support/api/test-server.ts';
import { openModelFixture } from '../../support/golden/fixture.ts';
import { idsOnly, rlGroups, rlJob } from '../../support/golden/rl-rows.ts';
import { skipWithout } from '../../support/skipping.ts';
import { enterKey, openBrowser, openPage, visit } from '../../support/dashboard/browser.ts';

const browser: Browser | null = await openBrowser();
const DIST = fileURLToPath(new URL('../../../dist/dashboard/', import.meta.url));
/** What the page shows has six digits. */
const DIGITS = 4;

const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value / values.length, 0);

/** The values of one token, by the labels of its card. */
type Numbers = ReadonlyMap<string, number>;

describe('the golden job', skipWithout('CHROMIUM', browser !== null), () => {
  let server: TestServer;
  let engine: TrainingEngine;
  let work: string;
  let jobId: string;
  let page: Page;
  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'whetstone-golden-page-'));
    server = await openTestServer({ dashboard: await openDashboard(DIST) });
    jobId = await runGoldenJob();
    await server.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = server.app.server.address() as AddressInfo;
    ({ page } = await visit(browser!, `http://127.0.0.1:${port}/`, { viewport: { width: 1600, height: 900 } }));
    await enterKey(page, BOOTSTRAP_KEY);
  });
  afterAll(async () => {
    await browser?.close();
    await server.close();
    await engine.close();
    await rm(work, { recursive: true, force: true });
  });

  async function runGoldenJob(): Promise<string> {
    const fixture = await openModelFixture('qwen3');
    const { storage, blobs, services, jobEvents } = server;
    const about = { modelDirectory: fixture.model, threads: 1, memoryBytes: 4e9, log: silentLog };
    engine = await openOnnxTrainingEngine(about);
    const golden: TrainingEngine = {
      limits: engine.limits,
      status: () => engine.status(),
      close: () => engine.close(),
      open: (options, signal) => engine.open({ ...options, lora: { rank: 4, alpha: 8, seed: 0 } }, signal),
    };
    const modelId = createId();
    const blobPrefix = `checkpoints/${modelId}/0`;
    await blobs.putDirectory(blobPrefix, fixture.adapter);
    const model = { id: modelId, entity: 'default', project: 'p', name: 'golden', baseModel: BASE, runId: null };
    const stepZero = { id: createId(), modelId, step: 0, metrics: {}, blobPrefix, fresh: false };
    await storage.models.create({ ...model, createdAtMs: 0 }, { ...stepZero, createdAtMs: 0 });
    const body = { groups: rlGroups, config: { packedSequenceLength: 250 }, warnings: [] };
    const job = await services.trainingJobs.submitRl(aCaller({ entity: 'default' }), body, modelId, createId());
    const runner = aJobRunner({
      ...{ storage, blobs, jobEvents, workDirectory: work, exclusive: true, saveEveryMs: 60_000 },
      trainerOf: () => ({
        engine: golden,
        encoder: idsOnly,
        capabilities: ableTrainer,
        readElsewhere: null,
        ...noSampler,
      }),
    });
    await runner.start();
    await vi.waitFor(
      async () => {
        const { status, errorMessage } = (await storage.jobs.find(job.id))!;
        expect([status, errorMessage]).toEqual(['succeeded', null]);
      },
      { timeout: 100_000, interval: 50 },
    );
    await runner.stop();
    return job.id;
  }

  /** The value of a column for every token, as its card shows it when the arrow keys reach it. */
  async function readTokens(column: Locator): Promise<Numbers[]> {
    const read: Numbers[] = [];
    for (const text of await column.locator('.tokens').all()) {
      const spans = await text.locator('.token').count();
      await text.focus();
      for (let at = 0, before = ''; at < spans; at++) {
        await page.keyboard.press('ArrowRight');
        const card = page.locator('.token-card');
        await expect.poll(() => card.innerText().catch(() => before), { timeout: 30_000 }).not.toBe(before);
        before = await card.innerText();
        for (const list of await card.locator('dl').all()) read.push(await numbersIn(list));
      }
      await page.keyboard.press('Escape');
    }
    return read;
  }

  async function numbersIn(list: Locator): Promise<Numbers> {
    const [names, values] = [await list.locator('dt').allInnerTexts(), await list.locator('dd').allInnerTexts()];
    return new Map(names.map((name, at) => [name, Number.parseFloat(values[at]!.replace('−', '-'))]));
  }

  test('has on its pages the log-probabilities, ratios, advantages and weights of the fixture', async () => {
    const { signals, metrics } = rlJob.cases[0]!;
    const ratios: number[] = [];
    let trajectory = 0;
    for (const [group, trajectories] of rlJob.groups.entries()) {
      await openPage(page, `/jobs/${jobId}/groups/${group}`);
      await page.getByRole('heading', { name: `Group ${group}`, exact: true }).waitFor();
      const rewards = trajectories.map(({ reward }) => reward);
      const mean = average(rewards);
      const deviation = Math.sqrt(average(rewards.map((reward) => (reward - mean) ** 2)));
      for (const [index, { reward, histories }] of trajectories.entries()) {
        const column = page.getByRole('article', { name: new RegExp(`^Trajectory ${index}, reward`) });
        expect(await column.locator('.reward').getAttribute('title')).toBe(`reward ${reward}`);
        const signal = signals[trajectory++]!;
        if (signal === null) {
          await column.getByText('Not trained: equal rewards.').waitFor();
          continue;
        }
        await column.locator('.token').first().waitFor();
        const [advantage, weight] = signal;
        const title = (await column.locator('.advantage').getAttribute('title'))!;
        const inGroup = (reward - mean) / deviation; // the loss scales it over the job, and the tokens show that
        expect(Number(title.replace('advantage ', ''))).toBeCloseTo(inGroup, DIGITS);
        const shown = await readTokens(column);
        const ids = histories.flatMap(({ turns }) => turns.filter((_, at) => at % 2 === 0).flat());
        expect(shown.map((token) => token.get('token id'))).toEqual(ids);
        const [sampled, trainer] = [
          histories.flatMap((each) => each.sampled),
          histories.flatMap((each) => each.trainer),
        ];
        for (const [at, token] of shown.entries()) {
          expect(token.get('trainer logprob')).toBeCloseTo(trainer[at]!, DIGITS);
          expect(token.get('advantage')).toBeCloseTo(advantage, DIGITS);
          expect(token.get('weight')).toBeCloseTo(weight, DIGITS);
          const known = sampled[at] ?? null;
          if (known === null) expect(token.has('sampler logprob')).toBe(false);
          else {
            expect(token.get('sampler logprob')).toBeCloseTo(known, DIGITS);
            expect(token.get('ratio')).toBeCloseTo(Math.exp(trainer[at]! - known), DIGITS);
            ratios.push(token.get('ratio')!);
          }
        }
      }
    }
    expect(trajectory).toBe(signals.length);
    expect(Math.min(...ratios)).toBeCloseTo(metrics['ratio_min']!, DIGITS);
    expect(Math.max(...ratios)).toBeCloseTo(metrics['ratio_max']!, DIGITS);
  });
});
