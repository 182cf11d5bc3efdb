// `npm run bench -- dashboard`: what full pages cost the browser, in processor time of its main thread: a job of ten thousand trajectories and
// a thousand gradient steps, and a group of 64 answers of 2,000 tokens each, opened in a freshly loaded page. With `-- --minutes 10` it
// instead measures what a page holds that stays open while a job takes ten gradient steps per second.
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { AddressInfo } from 'node:net';
import type { CDPSession, Page } from 'playwright-core';
import { openDashboard } from '#api/description/dashboard';
import { BOOTSTRAP_KEY, openTestServer } from '../test/support/api/test-server.ts';
import { openLiveJob } from '../test/support/dashboard/a-live-job.ts';
import { runLargeJob } from '../test/support/dashboard/a-large-job.ts';
import { enterKey, openBrowser, openPage, visit } from '../test/support/dashboard/browser.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '0' } } });
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const ROUNDS = 3;
const SIZE = { viewport: { width: 1600, height: 900 } };

const browser = await openBrowser();
if (!browser) process.exit(1);

async function metricsOf(devtools: CDPSession): Promise<ReadonlyMap<string, number>> {
  const { metrics } = await devtools.send('Performance.getMetrics');
  return new Map(metrics.map(({ name, value }) => [name, value]));
}

/** Processor time of the main thread, until the page has been idle for half a second. */
async function workOf(page: Page, devtools: CDPSession, act: () => Promise<unknown>): Promise<string> {
  const before = await metricsOf(devtools);
  await act();
  for (let [last, now] = [-1, 0]; now - last > 0.005;) {
    await delay(500);
    [last, now] = [now, (await metricsOf(devtools)).get('TaskDuration')!];
  }
  const after = await metricsOf(devtools);
  const ms = (name: string) => Math.round(1_000 * (after.get(name)! - before.get(name)!));
  const elements = await page.locator('body *').count();
  const parts = `script ${ms('ScriptDuration')}, style ${ms('RecalcStyleDuration')}, layout ${ms('LayoutDuration')}`;
  return `${ms('TaskDuration')} ms (${parts}), ${elements} elements`;
}

async function measurePages(): Promise<void> {
  const server = await openTestServer({
    dashboard: await openDashboard(fileURLToPath(new URL('../dist/dashboard/', import.meta.url))),
  });
  const { modelId, id, longGroup } = await runLargeJob(server);
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.app.server.address() as AddressInfo;
  const { page } = await visit(browser!, `http://127.0.0.1:${port}/`, SIZE);
  await enterKey(page, BOOTSTRAP_KEY);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const first = (locator: string) => page.locator(locator).first().waitFor();
  const open = (path: string, locator: string) => async () => {
    await openPage(page, path);
    await first(locator);
  };
  const pages = [
    ['group of 64 x 2,000 tokens', `/jobs/${id}/groups/${longGroup}`, '.token'],
    ['job of 1,000 steps', `/jobs/${id}`, '.chart canvas'],
    ['10,000 trajectories', `/models/${modelId}/trajectories`, '.line-cells'],
  ] as const;
  for (const [title, path, locator] of pages)
    for (let round = 0; round < ROUNDS; round++) {
      await openPage(page, '/workers');
      await page.reload(); // drops compiled code and resets the counters
      await workOf(page, devtools, () => first('main .state'));
      say(`${title}: ${await workOf(page, devtools, open(path, locator))}`);
    }
  const scroll = async () => {
    for (let at = 0; at < 40; at++) {
      await page.evaluate(`document.querySelector('.virtual').scrollTop += 9000`);
      await page.evaluate('new Promise(requestAnimationFrame)');
    }
  };
  say(`10,000 trajectories, scrolled through: ${await workOf(page, devtools, scroll)}`);
  const sort = () => page.getByRole('button', { name: /^Reward/ }).click();
  say(`10,000 trajectories, sorted by reward: ${await workOf(page, devtools, sort)}`);
  await page.context().close();
  await server.close();
}

async function stayOpen(minutes: number): Promise<void> {
  const job = await openLiveJob();
  const { page } = await visit(browser!, job.url, SIZE);
  await enterKey(page, BOOTSTRAP_KEY);
  await openPage(page, `/jobs/${job.id}`);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  for (let second = 0; second <= 60 * minutes; second++) {
    if (second % 60 === 0) {
      await devtools.send('HeapProfiler.collectGarbage');
      const metrics = await metricsOf(devtools);
      const [heap, nodes, listeners] = ['JSHeapUsedSize', 'Nodes', 'JSEventListeners'].map((name) =>
        metrics.get(name)!,
      );
      say(
        `open for ${second / 60} min, ${10 * second} steps: ${(heap! / 1e6).toFixed(2)} MB, ${nodes} nodes, ${listeners} listeners`,
      );
    }
    await job.step(10);
    await delay(1_000);
  }
  await job.close();
}

await (Number(values.minutes) > 0 ? stayOpen(Number(values.minutes)) : measurePages());
await browser.close();
