// Lists of a server that is used for long: a thousand models, and a model with a thousand steps. Nothing is cut off in silence, and
// sorting sorts the whole list.
import { fileURLToPath } from 'node:url';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDashboard } from '#api/description/dashboard';
import { createId } from '#base/ids';
import { aCheckpoint, addModel, aJob, closing, NOW } from '../../support/contract/stored-rows.ts';
import { BASE, BOOTSTRAP_KEY, openTestServer, type TestServer } from '../../support/api/test-server.ts';
import { aPayer } from '../../support/a-caller.ts';
import { skipWithout } from '../../support/skipping.ts';
import {
  enterKey,
  expectAccessible,
  openBrowser,
  openPage,
  visit,
  type Visit,
} from '../../support/dashboard/browser.ts';

const browser = await openBrowser();
const DIST = fileURLToPath(new URL('../../../dist/dashboard/', import.meta.url));
const MODELS = 1_000;
const STEPS = 1_009;
const VERSIONS = 120;
const EPISODES = 60;

describe('long lists', skipWithout('CHROMIUM', browser !== null), () => {
  let server: TestServer;
  let seen: Visit;
  let page: Page;
  let longest: string;
  /** Newest first, as their links name them. */
  const jobs: string[] = [];

  beforeAll(async () => {
    server = await openTestServer({ dashboard: await openDashboard(DIST) });
    const { storage } = server;
    const of = { entity: 'default', baseModel: BASE };
    for (let at = 0; at < MODELS; at++) await addModel(storage, { ...of, name: `model-${at}` });
    longest = (await addModel(storage, { ...of, name: 'longest' })).id;
    for (let step = 1; step < STEPS; step++) {
      const job = aJob(longest, 'default');
      await storage.jobs.create(job);
      jobs.unshift(`RL ${job.id.slice(0, 8)}`);
      const claimed = await storage.jobs.claim('w', NOW, 1_000, null);
      // The last steps are the worst, so that sorting what is shown would not sort all.
      const checkpoint = { ...aCheckpoint(longest, step), metrics: { 'train/reward': 1 / step } };
      await storage.jobs.finish(job.id, claimed!.attempt, { ...closing(job.id, 0), checkpoint });
    }
    await storage.artifacts.addContent(
      { ...of, sha256: 'x', md5: null, sizeBytes: 1, blob: 'artifacts/x' },
      aPayer(),
      1,
    );
    const about = { entity: 'default', project: 'p', name: 'rows', type: 'dataset', metadata: {}, createdAtMs: NOW };
    for (let at = 0; at < VERSIONS; at++) {
      const files = [{ path: 'rows.jsonl', sha256: 'x', sizeBytes: 1_000 * (VERSIONS - at) }];
      await storage.artifacts.create({ ...about, id: createId(), files, digest: `${at}` }, [], aPayer());
    }
    for (let at = 0; at < EPISODES; at++) {
      const episode = { id: createId(), entity: 'default', modelId: longest, name: `attempt-${at}-`, groupName: null };
      const bounds = { openMax: EPISODES, callsMax: 1, tokensMax: 1 };
      await storage.episodes.create({ ...episode, metadata: {} }, bounds, aPayer(), NOW);
      const end = { outcome: 'completed', reward: 1, metrics: {}, turnRewards: {} } as const;
      if (at < 7) await storage.episodes.reward(episode.id, end, NOW);
    }
    await server.app.listen({ port: 0, host: '127.0.0.1' });
    const url = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}/`;
    seen = await visit(browser!, url, { viewport: { width: 1400, height: 900 } });
    page = seen.page;
    await enterKey(page, BOOTSTRAP_KEY);
  });
  afterAll(async () => {
    await browser?.close();
    await server.close();
  });

  /** How much of what was shown has moved without the user's doing, as Chromium measures it: below 0.1 is good. */
  const shifted = () =>
    page.evaluate<number>(`new Promise((resolve) => {
      let sum = 0;
      new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (sum += value))).observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => resolve(sum), 100);
    })`);

  const inSight = (what: Locator) =>
    what.boundingBox().then((box) => box !== null && box.y >= 0 && box.y + box.height <= page.viewportSize()!.height);

  const cells = (table: string, column: number) =>
    page.getByRole('region', { name: table }).locator(`tbody tr td:nth-child(${column})`).allInnerTexts();

  test('what is shown while a page loads stays in its place', async () => {
    for (const [path, table] of [
      ['/', 'Models'],
      [`/models/${longest}`, 'Checkpoints'],
    ] as const) {
      await openPage(page, path);
      await page.reload();
      await page.getByRole('region', { name: table }).locator('tbody tr').first().waitFor();
      expect(await shifted()).toBeLessThan(0.1);
    }
    await openPage(page, '/');
  });

  test('a model says how many checkpoints it has, sorts all of them, and offers each for a fork', async () => {
    await openPage(page, `/models/${longest}`);
    await page.getByText('50 of 1 009 are shown').waitFor();
    await page.getByRole('button', { name: 'train/reward' }).click();
    await expect.poll(async () => (await cells('Checkpoints', 2))[0], { timeout: 20_000 }).toBe('1');
    await page.getByRole('button', { name: 'Show 500 more' }).click();
    await page.getByText('550 of 1 009 are shown').waitFor();
    expect(await page.getByLabel('Fork step').locator('option').count()).toBe(STEPS);
    const compare = page.getByRole('checkbox', { name: /^Compare step/ });
    await compare.nth(0).check();
    await compare.nth(1).check();
    expect(await inSight(page.getByRole('link', { name: 'Compare step 1 with step 2' }))).toBe(true);
    await expectAccessible(page);
  });

  test('any model can be compared with, not only those of the last days', async () => {
    await page.getByLabel('Compare with').fill('model-7');
    await page.keyboard.press('Enter');
    await page.getByText('Several match: choose one.').waitFor(); // 111 models, of which 20 are offered
    await page.getByLabel('Compare with').fill('p/model-7');
    await page.locator('datalist option[value="p/model-7"]').waitFor({ state: 'attached' });
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'p/model-7' }).waitFor();
  });

  test('jobs have a page, in pages that the address names, filtered by model and status', async () => {
    await page.getByRole('link', { name: 'All jobs of the model' }).click();
    await page.getByText('Jobs 1 to 50 of 1\u2009008').waitFor();
    expect(await cells('Jobs', 2)).toEqual(jobs.slice(0, 50));
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Older ›' }).click();
    await page.getByText('Jobs 51 to 100 of 1\u2009008').waitFor();
    expect(await cells('Jobs', 2)).toEqual(jobs.slice(50, 100));
    await page.reload();
    await page.getByText('Jobs 51 to 100 of 1\u2009008').waitFor();
    await page.goBack();
    await page.getByText('Jobs 1 to 50 of 1\u2009008').waitFor();
    const fortieth = page.getByRole('region', { name: 'Jobs' }).getByRole('row').nth(40);
    await fortieth.scrollIntoViewIfNeeded();
    await expect.poll(() => page.evaluate('scrollY > 0 && history.state?.place === scrollY')).toBe(true);
    await fortieth.getByRole('link', { name: /^RL/ }).click();
    await page.getByRole('heading', { level: 1, name: 'RL job' }).waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.goBack();
    await expect.poll(() => inSight(fortieth)).toBe(true);
    expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe('p/longest');
    await page.getByLabel('Kind').selectOption('sft');
    await page.getByText('No job matches').waitFor();
    await page.getByLabel('Kind').selectOption('rl');
    await page.getByText('Jobs 1 to 50 of 1\u2009008').waitFor();
    await page.getByLabel('Status').selectOption('failed');
    await page.getByText('No job matches').waitFor();
    await page.goBack();
    await page.getByText('Jobs 1 to 50 of 1\u2009008').waitFor();
    expect([await page.getByLabel('Status').inputValue(), await page.getByLabel('Kind').inputValue()]).toEqual([
      '',
      'rl',
    ]);
  });

  test('the versions of artifacts are sorted as a whole, in pages that the address names', async () => {
    await openPage(page, '/data');
    await page.getByText(`Versions 1 to 50 of ${VERSIONS}`).waitFor();
    const versions = () => cells('Artifacts', 1);
    const names = (from: number, to: number) =>
      Array.from({ length: 50 }, (_, i) => `rows:v${from < to ? from + i : from - i}`);
    expect(await versions()).toEqual(names(VERSIONS - 1, 0));
    const size = page.getByRole('columnheader', { name: 'Size' });
    await size.getByRole('button').click();
    await expect.poll(versions).toEqual(names(0, 1)); // the oldest are the largest
    expect(await size.getAttribute('aria-sort')).toBe('descending');
    await page.getByRole('link', { name: 'Next ›' }).click();
    await page.getByText(`Versions 51 to 100 of ${VERSIONS}`).waitFor();
    expect(await versions()).toEqual(names(50, 51));
    await page.getByRole('columnheader', { name: 'Artifact' }).getByRole('button').click(); // from its beginning
    await page.getByText(`Versions 1 to 50 of ${VERSIONS}`).waitFor();
    expect(await versions()).toEqual(names(VERSIONS - 1, 0));
    await page.reload();
    await expect.poll(versions).toEqual(names(VERSIONS - 1, 0));
    await page.goBack();
    await expect.poll(versions).toEqual(names(50, 51));
    await expectAccessible(page);
  });

  test('the list of episodes says how many there are, of all and of a state', async () => {
    await openPage(page, '/episodes');
    await page.getByText(`Episodes 1 to 50 of ${EPISODES}`).waitFor();
    await page.getByRole('link', { name: 'Older ›' }).click();
    await page.getByText(`Episodes 51 to 60 of ${EPISODES}`).waitFor();
    await page.getByLabel('State').selectOption('rewarded');
    await page.getByText('Episodes 1 to 7 of 7').waitFor();
    await openPage(page, '/episodes?search=attempt-7-');
    await page.getByText('Episodes 1 to 1, the last ones').waitFor(); // a search is not counted
  });

  test('Home says which models it shows, and does not sort a part', async () => {
    await openPage(page, '/');
    await page.getByText('Models 1 to 50 of 1\u2009001').waitFor();
    expect(await page.getByRole('region', { name: 'Models' }).getByRole('button').count()).toBe(0);
    await page.getByRole('link', { name: 'Earlier activity' }).click();
    await page.getByText('Models 51 to 100 of 1\u2009001').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('model-99');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await cells('Models', 1)).length, { timeout: 20_000 }).toBe(11);
    await page.getByRole('button', { name: /^Step/ }).waitFor();
    expect(seen.faults).toEqual([]);
  });
});
