// Runs in the dashboard, from the link that the `wandb` library prints, compared with the API.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type RunningServer } from '../../../examples/shared/server.ts';
import { createClient } from '../../../src/client/client.ts';
import { skipWithout } from '../../support/skipping.ts';
import { enterKey, expectAccessible, openBrowser, visit, type Visit } from '../../support/dashboard/browser.ts';

const browser = await openBrowser();

const UPSERT = `mutation U($name: String, $config: JSONString) {
  upsertBucket(input: {name: $name, modelName: "tries", config: $config}) { bucket { id } } }`;

describe('runs', skipWithout('CHROMIUM', browser !== null), () => {
  let directory: string;
  let server: RunningServer;
  let seen: Visit;
  let page: Page;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'whetstone-runs-'));
    server = await startServer(directory);
    for (const at of [1, 2, 3]) {
      const config = JSON.stringify({ lr: { value: at / 10 }, base: { value: 'x' } });
      await send('/graphql', { query: UPSERT, variables: { name: `r${at}`, config } });
      const content = [1, 2].map((step) => JSON.stringify({ _step: step, loss: at / step }));
      const files = {
        'wandb-history.jsonl': { offset: 0, content },
        'wandb-summary.json': { offset: 0, content: [`{"loss":${at / 2}}`] },
      };
      await send(`/files/default/tries/r${at}/file_stream`, { files, complete: true, exitcode: 0 });
    }
    seen = await visit(browser!, `${server.url}/default/tries/runs/r2`, { viewport: { width: 1400, height: 900 } });
    page = seen.page;
    await enterKey(page, server.apiKey);
  });
  afterAll(async () => {
    await browser?.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function send(path: string, body: object): Promise<void> {
    const authorization = `Basic ${Buffer.from(`api:${server.apiKey}`).toString('base64')}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const response = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect([response.status, await response.text()]).toEqual([200, expect.not.stringContaining('errors')]);
  }

  test('the link of a run opens its curves, its summary and its configuration', async () => {
    await page.getByRole('heading', { level: 1, name: 'r2' }).waitFor();
    const client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
    const { curves } = await client.getRunCurves('~/tries/r2');
    expect(curves).toEqual({ loss: { steps: [1, 2], values: [2, 1] } });
    await page.getByRole('img', { name: /^loss\. .*from 2 to 1/ }).waitFor();
    await page.getByRole('region', { name: 'Configuration' }).getByText('0.2', { exact: true }).waitFor();
    await expectAccessible(page);
  });

  test('the runs of a project are sorted as a list, filtered, and compared where they differ', async () => {
    await page.getByRole('link', { name: 'tries' }).click();
    const rows = page.getByRole('region', { name: 'Runs' }).getByRole('row');
    await page.getByRole('button', { name: 'lr' }).click();
    await expect.poll(() => rows.nth(1).innerText()).toMatch(/r3[^]*0\.3/);
    await page.getByRole('button', { name: 'lr' }).click();
    await expect.poll(() => rows.nth(1).innerText()).toMatch(/r1[^]*0\.1/);
    expect(page.url()).toMatch(/sort-runs=lr$/);
    await page.reload(); // a link shows what its sender saw
    await expect.poll(() => rows.nth(1).innerText()).toMatch(/r1[^]*0\.1/);
    await page.getByRole('button', { name: 'Duration' }).click();
    await page.goBack();
    await expect.poll(() => rows.nth(1).innerText()).toMatch(/r1[^]*0\.1/);
    await page.getByLabel('Compare r1').check();
    await page.getByLabel('Compare r3').check();
    const comparison = page.getByRole('region', { name: 'Comparison' });
    await comparison.getByText('0.3', { exact: true }).waitFor();
    expect(await comparison.getByText('base').count()).toBe(0);
    await page.getByRole('img', { name: /r1: from 1 to .*r3: from 3 to/ }).waitFor();
    await page.getByLabel('Name, group or tag').fill('r2');
    await page.getByLabel('Name, group or tag').press('Enter');
    await expect.poll(() => rows.count()).toBe(2);
    await comparison.getByText('0.3', { exact: true }).waitFor(); // what is chosen stays, whatever the filter shows
    await expectAccessible(page);
  });

  test('and no script failed, nothing was refused, no other host was contacted', () => expect(seen.faults).toEqual([]));
});
