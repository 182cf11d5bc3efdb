// The frame of the dashboard with the real server: the key, links to a page, a small screen, dark mode; the server under a
// prefix.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type RunningServer } from '../../../examples/shared/server.ts';
import { skipWithout } from '../../support/skipping.ts';
import { enterKey, expectAccessible, openBrowser, openPage, visit } from '../../support/dashboard/browser.ts';

const browser: Browser | null = await openBrowser();

describe('the dashboard', skipWithout('CHROMIUM', browser !== null), () => {
  let directory: string;
  let server: RunningServer;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'whetstone-dashboard-'));
    server = await startServer(directory);
  });
  afterAll(async () => {
    await browser?.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test('asks for a key, says so when it is not one, and keeps it until the tabs of the server are closed', async () => {
    const { page, faults } = await visit(browser!, server.url);
    await page.getByLabel('API key').fill('wk-…');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('A key has ASCII characters and no spaces. Copy it again.').waitFor();
    await page.getByLabel('API key').fill('wk-not-a-key');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('Incorrect or revoked API key').waitFor();
    await expectAccessible(page);
    await enterKey(page, server.apiKey);
    expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).toEqual([0, 1, '']);
    await page.reload();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    const other = await page.context().newPage();
    await other.goto(server.url); // the open tab hands it over
    await other.getByRole('heading', { name: 'Home' }).waitFor();
    await page.close();
    await other.close();
    const later = await other.context().newPage();
    await later.goto(server.url);
    await later.getByLabel('API key').waitFor();
    expect(faults).toEqual([]);
    await later.context().close();
  });

  test('remembers the key on the device if asked to, until it is forgotten, in all tabs', async () => {
    const { page, faults } = await visit(browser!, server.url);
    await page.getByLabel('Remember it on this device').check();
    await expectAccessible(page);
    await enterKey(page, server.apiKey);
    expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).toEqual([1, 0, '']);
    const later = await page.context().newPage();
    await page.close();
    await later.goto(server.url);
    await later.getByRole('heading', { name: 'Home' }).waitFor();
    const other = await later.context().newPage();
    await other.goto(server.url);
    await other.getByRole('button', { name: 'Forget key' }).click();
    await later.getByLabel('API key').waitFor();
    expect(await other.evaluate('localStorage.length')).toBe(0);
    expect(faults).toEqual([]);
    await later.context().close();
  });

  test('every page leads to its documentation, which leads on inside the dashboard', async () => {
    const { page, faults } = await visit(browser!, server.url, { viewport: { width: 390, height: 844 } });
    await enterKey(page, server.apiKey);
    const pages = page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link');
    const titles: string[] = [];
    for (const name of await pages.allInnerTexts()) {
      await pages.filter({ hasText: name }).click();
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.getByRole('link', { name: 'Help' }).click();
      await page.locator('.document h1').waitFor();
      titles.push(await page.locator('.document h1').innerText());
      await page.goBack();
    }
    expect(titles).toContain('Keys, entities and limits');
    await openPage(page, '/');
    const home = () => pages.filter({ hasText: 'Home' }).boundingBox();
    await expect.poll(async () => (await home())!.x).toBeGreaterThanOrEqual(0); // the last page's link was scrolled to
    await openPage(page, '/documentation/training');
    await page.locator('.document h1').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expectAccessible(page);
    await page.locator('.document a[href*="?at="]').first().click();
    await page.locator('.document h1').waitFor();
    await page.getByRole('link', { name: 'Documentation' }).click();
    await page.getByRole('link', { name: 'Glossary' }).click();
    await page.getByText('low-rank adaptation').waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('the link of `whetstone serve` opens it signed in, and the key leaves the address', async () => {
    const { page, faults } = await visit(browser!, `${server.url}/#key=${encodeURIComponent(server.apiKey)}`);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(page.url()).not.toContain('key');
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test.each([
    { colorScheme: 'light', viewport: { width: 375, height: 800 } },
    { colorScheme: 'dark', viewport: { width: 1600, height: 900 } },
  ] as const)('is accessible, and no wider than its window: %o', async (options) => {
    const { page, faults } = await visit(browser!, server.url, options);
    await enterKey(page, server.apiKey);
    await page.getByRole('heading', { name: 'Models' }).waitFor();
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(options.viewport.width);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test('every page says that the server is away, and comes back with it', async () => {
    const { page } = await visit(browser!, server.url);
    await enterKey(page, server.apiKey);
    const lost = page.getByRole('alert').filter({ hasText: 'The server does not respond.' });
    const models = ['/models/none', '/models/none/trajectories', '/jobs/none', '/jobs/none/groups/0', '/runs/~/none'];
    for (const path of ['/', '/jobs', '/episodes', '/runs', '/data', '/keys', '/workers', ...models]) {
      await page.route('**/v1/**', (route) => route.abort());
      await openPage(page, path);
      await lost.first().waitFor();
      await page.unroute('**/v1/**');
    }
    for (const path of ['/data', '/keys', '/jobs/none/groups/0']) {
      await page.route('**/v1/**', (route) => route.abort());
      await openPage(page, path);
      await lost.first().waitFor();
      await page.unroute('**/v1/**');
      await expect.poll(() => lost.count(), { timeout: 10_000 }).toBe(0);
    }
    await page.context().close();
  });

  test('says where nothing is', async () => {
    const { page } = await visit(browser!, server.url);
    await enterKey(page, server.apiKey);
    await openPage(page, '/no/such/page');
    await page.getByText('No page has this address').waitFor();
    await page.context().close();
  });
});
