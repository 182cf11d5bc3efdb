// Alerts of the dashboard: what happens while a page is open is told on it, whichever page it is.
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openDashboard } from '#api/description/dashboard';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import { readWorkerModel } from '#engine/workers/worker-model';
import { loopWarnings } from '#services/jobs/attempt/loop-warnings';
import { addModel, aJob, closing, failing, NOW } from '../../support/contract/stored-rows.ts';
import { BASE, BOOTSTRAP_KEY, openTestServer, type TestServer } from '../../support/api/test-server.ts';
import { skipWithout } from '../../support/skipping.ts';
import { enterKey, expectAccessible, openBrowser, openPage, visit } from '../../support/dashboard/browser.ts';
import { sayHello } from '../../support/workers/by-hand.ts';
import { EVERYTHING } from '../../support/workers/worker-lab.ts';

const browser = await openBrowser();
const DIST = fileURLToPath(new URL('../../../dist/dashboard/', import.meta.url));

type Job = ReturnType<typeof aJob>;

const step = (reward: number) => ({ reward, standardError: 0.01, equalGroups: 0, entropy: 1 });
const planned = { rewards: { reward: 0.2 }, rewardStandardError: 0.01, comparedGroups: 4, equalGroups: 0, rows: [] };
/** What the job's own event says of its reward and the three before it. */
const fall = loopWarnings([0.8, 0.6, 0.4].map(step), planned, null)[0]!;

describe('alerts', skipWithout('CHROMIUM', browser !== null), () => {
  let server: TestServer;
  let url: string;
  beforeAll(async () => {
    server = await openTestServer({ dashboard: await openDashboard(DIST) });
    await server.app.listen({ port: 0, host: '127.0.0.1' });
    url = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}/`;
  });
  afterAll(async () => {
    await browser?.close();
    await server.close();
  });

  test('a failed job, a reward that fell and a lost worker are told on the page that is open, until they are closed', async () => {
    const { storage, workers } = server;
    const model = await addModel(storage, { entity: 'default', baseModel: BASE, name: 'watched' });
    const [early, late, fallen] = [1, 2, 3].map(() => aJob(model.id, 'default')) as [Job, Job, Job];
    const end = async (job: Job, how: Parameters<typeof storage.jobs.finish>[2]) => {
      await storage.jobs.create(job);
      const claimed = await storage.jobs.claim('w', NOW, 1_000, null);
      await storage.jobs.finish(job.id, claimed!.attempt, how);
    };
    const fail = (job: Job) => end(job, failing(job.id, 0));
    await fail(early); // before the page was opened: Home lists it, nothing alerts
    const sampled = await readWorkerModel('tiny/sampled', STARTER_DIRECTORY);
    workers.host(sampled);
    const worker = await sayHello({ url: server.app.listeningOrigin, model: sampled, capabilities: EVERYTHING });
    await vi.waitFor(() => expect(workers.list()).toHaveLength(1));
    const { page, faults } = await visit(browser!, url, { viewport: { width: 390, height: 844 } });
    await enterKey(page, BOOTSTRAP_KEY);
    const looked = page.waitForResponse(/v1\/workers/);
    await openPage(page, '/keys');
    await looked;
    worker.socket.terminate();
    await vi.waitFor(() => expect(workers.list()).toMatchObject([{ state: 'away' }]));
    const { event, ...ended } = closing(fallen.id, 0);
    await end(fallen, { ...ended, event: { ...event, data: { warnings: [fall] } } });
    await fail(late);
    const alerts = page.getByRole('alert', { name: 'Alerts' });
    await alerts.getByRole('listitem').nth(2).waitFor();
    expect(await alerts.getByRole('listitem').count()).toBe(3);
    const told = (text: string) => alerts.getByRole('listitem').filter({ hasText: text });
    const linked = async (text: string) => (await told(text).getByRole('link').last().getAttribute('href')) ?? '';
    expect(await linked(`✕ failed`)).toBe(`#/jobs/${late.id}`);
    expect(await told(`✕ failed`).innerText()).toContain(failing(late.id, 0).errorMessage);
    expect(await linked(fall)).toBe(`#/jobs/${fallen.id}`);
    expect(await linked('The worker hand does not answer. It is expected to reconnect.')).toBe('#/workers');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expectAccessible(page);
    await told(fall).getByRole('button', { name: 'Close this alert' }).click();
    await told(fall).waitFor({ state: 'detached' });
    await alerts.getByRole('button', { name: 'Close all' }).click();
    await alerts.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });
});
