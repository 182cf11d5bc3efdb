// Alerts of the dashboard: what happens while a page is open is told on it, whichever page it is.
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDashboard } from '#api/description/dashboard';
import { addModel, aJob, failing, NOW } from '../../support/contract/stored-rows.ts';
import { BASE, BOOTSTRAP_KEY, openTestServer, type TestServer } from '../../support/api/test-server.ts';
import { skipWithout } from '../../support/skipping.ts';
import { enterKey, expectAccessible, openBrowser, openPage, visit } from '../../support/dashboard/browser.ts';

const browser = await openBrowser();
const DIST = fileURLToPath(new URL('../../../dist/dashboard/', import.meta.url));

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

  test('a job that fails is told on the page that is open, with its reason, until the user closes it', async () => {
    const { storage } = server;
    const model = await addModel(storage, { entity: 'default', baseModel: BASE, name: 'watched' });
    const [early, late] = [aJob(model.id, 'default'), aJob(model.id, 'default')];
    const fail = async (job: typeof early) => {
      await storage.jobs.create(job);
      const claimed = await storage.jobs.claim('w', NOW, 1_000, null);
      await storage.jobs.finish(job.id, claimed!.attempt, failing(job.id, 0));
    };
    await fail(early); // before the page was opened: Home lists it, nothing alerts
    const { page, faults } = await visit(browser!, url, { viewport: { width: 390, height: 844 } });
    await enterKey(page, BOOTSTRAP_KEY);
    const looked = page.waitForResponse(/v1\/workers/);
    await openPage(page, '/keys');
    await looked;
    await fail(late);
    const alerts = page.getByRole('alert', { name: 'Alerts' });
    await alerts.getByRole('link', { name: 'p/watched' }).waitFor();
    expect(await alerts.getByRole('listitem').count()).toBe(1);
    expect(await alerts.innerText()).toContain(failing(late.id, 0).errorMessage);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expectAccessible(page);
    await alerts.getByRole('button', { name: 'Close this alert' }).click();
    await alerts.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });
});
