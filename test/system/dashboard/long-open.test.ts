// Pages that stay open while events arrive: what a person selected on a chart stays, and the page keeps nothing that it does not
// show.
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { register } from '../../support/api/registered-model.ts';
import { BOOTSTRAP_KEY } from '../../support/api/test-server.ts';
import { skipWithout } from '../../support/skipping.ts';
import { openLiveJob, type LiveJob } from '../../support/dashboard/a-live-job.ts';
import { enterKey, openBrowser, openPage, visit } from '../../support/dashboard/browser.ts';

const browser: Browser | null = await openBrowser();
const WITHIN = { timeout: 60_000 };

interface Held {
  readonly heapMb: number;
  readonly nodes: number;
  readonly listeners: number;
}

/** What is left after a full garbage collection. */
async function measure(devtools: CDPSession): Promise<Held> {
  for (let round = 0; round < 3; round++) await devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await devtools.send('Performance.getMetrics');
  const of = (name: string) => metrics.find((metric) => metric.name === name)!.value;
  return { heapMb: of('JSHeapUsedSize') / 1e6, nodes: of('Nodes'), listeners: of('JSEventListeners') };
}

/** Once nothing has been added for a while: parts of a page are loaded by themselves. */
async function whenSteady(measure: () => Promise<Held>): Promise<Held> {
  let last = await measure();
  return vi.waitUntil(
    async () => {
      const now = await measure();
      const isSteady = now.nodes === last.nodes;
      last = now;
      return isSteady && now;
    },
    { ...WITHIN, interval: 1_000 },
  );
}

async function zoomIn(page: Page): Promise<void> {
  const chart = page.locator('.u-over').first();
  const box = await vi.waitUntil(() => chart.boundingBox(), WITHIN); // null while it is redrawn
  await page.mouse.move(box.x + 0.25 * box.width, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.5 * box.width, box.y + 20, { steps: 4 });
  await page.mouse.up();
  await page.mouse.move(0, 0); // otherwise the charts show the point under it
  await page.getByRole('button', { name: 'Show all steps' }).waitFor();
}

const zoomed = (page: Page) => page.locator('.chart [role=img]').first().getAttribute('data-from');

describe('a page that stays open', skipWithout('CHROMIUM', browser !== null), () => {
  let job: LiveJob;
  let page: Page;
  let faults: string[];
  beforeAll(async () => {
    job = await openLiveJob();
    ({ page, faults } = await visit(browser!, job.url, { viewport: { width: 1600, height: 900 } }));
    await enterKey(page, BOOTSTRAP_KEY);
  });
  afterAll(async () => {
    await browser?.close();
    await job.close();
  });

  const untilShown = (steps: number) =>
    expect
      .poll(
        async () =>
          (await page.locator('.tile', { hasText: 'Gradient steps' }).locator('dd').first().innerText()).replaceAll(
            '\u2009',
            '',
          ),
        WITHIN,
      )
      .toBe(String(steps));

  test('of a job holds no more after nine thousand gradient steps than after five, and stays where it was zoomed', async () => {
    await openPage(page, `/jobs/${job.id}`);
    await job.step(5_000);
    await untilShown(5_000);
    await page.locator('.settings dl').first().waitFor(); // a part of the page that is loaded by itself
    await zoomIn(page);
    const from = await zoomed(page);
    await page.evaluate(`document.querySelector('.chart canvas').id = 'first'`);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Performance.enable');
    const held = [await whenSteady(() => measure(devtools))];
    for (let steps = 5_500; steps <= 9_000; steps += 500) {
      await job.step(500);
      await untilShown(steps);
      held.push(await measure(devtools));
    }
    expect(await zoomed(page)).toBe(from);
    expect(await page.locator('.chart canvas#first').count()).toBe(1); // the same chart
    // What leaks grows each time. Once, a browser may keep what it has just taken from the page for as long as it likes.
    const usualGrowth = (of: (held: Held) => number) =>
      held
        .slice(1)
        .map((after, at) => of(after) - of(held[at]!))
        .sort((a, b) => a - b)[held.length >> 1]!;
    expect(usualGrowth(({ nodes }) => nodes)).toBeLessThan(10);
    expect(usualGrowth(({ listeners }) => listeners)).toBeLessThan(5);
    expect(held.at(-1)!.heapMb - held[0]!.heapMb).toBeLessThan(3);
    const told = await page.locator('.section', { hasText: 'Events' }).last().locator('.section-aside').innerText();
    const [kept, all] = told.replaceAll('\u2009', '').split(' of ').map(Number);
    expect(all).toBe(9_000);
    expect(kept).toBeLessThanOrEqual(4_000);
  });

  test('of a model keeps zoom, smoothing and the model laid over it when another job ends', async () => {
    const [model, other] = [await register(job.server, 'model'), await register(job.server, 'other')];
    for (const reward of [0.1, 0.2, 0.3, 0.4]) {
      await job.endAnother(model, { 'train/reward': reward });
      await job.endAnother(other, { 'train/reward': 1 - reward });
    }
    await openPage(page, `/models/${model}`);
    const smoothing = page.getByLabel('Smoothing');
    await smoothing.fill('0.5');
    await page.getByLabel('Compare with').fill('p/other');
    await page.keyboard.press('Enter');
    await page.locator('.chart figcaption').getByText('p/other').first().waitFor();
    await zoomIn(page);
    const from = await zoomed(page);
    await job.endAnother(model, { 'train/reward': 0.5 });
    const reward = page.getByRole('img', { name: /^reward\. / });
    await expect.poll(() => reward.getAttribute('aria-label'), WITHIN).toContain('to 0.4161'); // 0.1 … 0.5, smoothed
    expect(await zoomed(page)).toBe(from);
    expect(await smoothing.inputValue()).toBe('0.5');
    await page.locator('.chart figcaption').getByText('p/other').first().waitFor();
    await page.locator('.u-over').first().click(); // marks a step
    await expect.poll(() => page.url(), WITHIN).toContain('&at=');
    const shown = async () => ({
      zoomed: await zoomed(page),
      caption: await page.locator('figcaption').first().innerText(),
    });
    await page.mouse.move(0, 0);
    const sent = await shown();
    await page.reload(); // as whoever follows the link
    await expect.poll(shown, WITHIN).toEqual(sent);
    expect(await smoothing.inputValue()).toBe('0.5');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download reward as CSV' }).click();
    expect((await saved).suggestedFilename()).toBe('reward.csv');
    const picture = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download reward as a PNG picture' }).click();
    expect((await picture).suggestedFilename()).toBe('reward.png');
    expect(faults).toEqual([]);
  });
});
