// /docs in a browser that can reach only this server: the page opens, finds an operation, and sends it.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type RunningServer } from '../../../examples/shared/server.ts';
import { skipWithout } from '../../support/skipping.ts';
import { openBrowser, visit, type Visit } from '../../support/dashboard/browser.ts';

const browser = await openBrowser();

describe('the page of the API', skipWithout('CHROMIUM', browser !== null), () => {
  let directory: string;
  let server: RunningServer;
  let seen: Visit;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'whetstone-reference-'));
    server = await startServer(directory);
    seen = await visit(browser!, `${server.url}/docs`, { viewport: { width: 1300, height: 900 } });
  });
  afterAll(async () => {
    await browser?.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test('opens without a key, finds an operation, sends it with a key, and shows the answer', async () => {
    const { page, faults } = seen;
    await page.getByRole('heading', { level: 1, name: 'Whetstone' }).waitFor();
    await page
      .getByRole('button', { name: /Search/ })
      .first()
      .click();
    await page.getByPlaceholder(/search/i).fill('base models that this server hosts');
    await page.getByRole('option', { name: /\/v1\/preview\/base-models/ }).click();
    await page.getByRole('heading', { name: /List the ids of the base models/ }).waitFor();

    await page
      .getByRole('button', { name: /Search/ })
      .first()
      .click();
    await page.getByPlaceholder(/search/i).fill('List your models, oldest first');
    await page.getByRole('option', { name: /List your models, oldest first/ }).click();
    await page.getByRole('button', { name: 'Test Request (get /v1/preview/models)' }).click();
    const client = page.getByRole('dialog');
    const answered = (status: number) =>
      page.waitForResponse((response) => response.url().endsWith('/v1/preview/models') && response.status() === status);
    const refused = answered(401);
    await client.getByRole('button', { name: /Send/ }).first().click();
    await refused;
    await client.getByPlaceholder('Token').first().fill(server.apiKey);
    const allowed = answered(200);
    await client.getByRole('button', { name: /Send/ }).first().click();
    await allowed;
    await client.getByText('has_more').first().waitFor();
    expect(faults).toEqual([]);
  });

  test('what we added to it is accessible', async () => {
    const { page } = seen;
    await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
    const { violations } = await page.evaluate<AxeResults>(`axe.run({ exclude: ['#reference', '[id^=headlessui]'] })`);
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)).toEqual([]);
  });
});
