// Training data in the dashboard: which tokens would be trained, compared with the API.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type RunningServer } from '../../../examples/shared/server.ts';
import { skipWithout } from '../../support/skipping.ts';
import { enterKey, expectAccessible, openBrowser, openPage, visit } from '../../support/dashboard/browser.ts';

const browser: Browser | null = await openBrowser();

const rowOf = (question: string) => ({
  messages: [
    { role: 'user', content: question },
    { role: 'assistant', content: `First, <b>${question}</b> 🎈` },
    { role: 'user', content: 'And?' },
    { role: 'assistant', content: 'Last.' },
  ],
});
const LINES = [...Array.from({ length: 24 }, (_, i) => JSON.stringify(rowOf(`Number ${i}?`))), '<script>no json'];

const said = (role: string, content: string) => [{ role, content }];
const PAIRS = [1, 2, 3].map((a) =>
  JSON.stringify({
    prompt: said('user', `What is ${a} + 1?`),
    chosen: said('assistant', `It is ${a + 1}.`),
    rejected: said('assistant', `Who knows <b>what</b> ${a} is?`),
  }),
);

describe('training data', skipWithout('CHROMIUM', browser !== null), () => {
  let directory: string;
  let server: RunningServer;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'whetstone-dashboard-'));
    server = await startServer(directory);
    const url = `${server.url}/v1/artifacts/~/demo/rows/train.jsonl`;
    const headers = { authorization: `Bearer ${server.apiKey}` };
    expect((await fetch(url, { method: 'PUT', headers, body: LINES.join('\n') })).status).toBe(201);
    const pairs = url.replace('/rows/', '/pairs/');
    expect((await fetch(pairs, { method: 'PUT', headers, body: PAIRS.join('\n') })).status).toBe(201);
  });
  afterAll(async () => {
    await browser?.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test('is listed, and each row shows what is trained', async () => {
    const { page, faults } = await visit(browser!, server.url, { viewport: { width: 1600, height: 900 } });
    await enterKey(page, server.apiKey);
    await openPage(page, '/data');
    await page.getByRole('link', { name: 'rows:v0' }).click();
    const rows = page.getByRole('listitem').filter({ hasText: /^line \d/ });
    await rows.nth(19).waitFor();
    await expectAccessible(page);

    const url = `${server.url}/v1/preview/artifacts/~/demo/rows:v0/rows?limit=1`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${server.apiKey}` } });
    const { data } = (await answer.json()) as { data: { sequences: { texts: string[]; trained: boolean[] }[] }[] };
    const sequences = data[0]!.sequences;
    const learnt = sequences.flatMap(({ texts, trained }) => texts.filter((_, i) => trained[i])).join('');
    const shown = rows.first().locator('.token.trained');
    expect((await shown.allTextContents()).join('')).toBe(learnt);
    expect(learnt).toContain('First, <b>Number 0?</b> 🎈');

    await page.getByLabel('Trained turns').selectOption('last');
    await page.waitForFunction(
      `![...document.querySelectorAll('.dataset-row .token.trained')].some((each) => each.textContent.includes('First'))`,
    );
    expect((await shown.allTextContents()).join('')).toContain('Last.');
    await page.getByRole('button', { name: 'More rows' }).click();
    await page.getByText(/A job would refuse this line/).waitFor();
    await page.getByText('<script>no json').waitFor();
    await page.getByLabel('Show').selectOption('messages');
    await rows.first().getByText('First, <b>Number 0?</b> 🎈').waitFor();
    await page.setViewportSize({ width: 375, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
    expect(faults).toEqual([]);
  });

  test('of preference pairs shows both answers side by side, and the tokens that are compared', async () => {
    const { page, faults } = await visit(browser!, server.url, { viewport: { width: 1600, height: 900 } });
    await enterKey(page, server.apiKey);
    await openPage(page, '/data');
    await page.getByRole('link', { name: 'pairs:v0' }).click();
    const chosen = page.getByRole('region', { name: 'Line 1, chosen' });
    const rejected = page.getByRole('region', { name: 'Line 1, rejected' });
    await rejected.waitFor();
    const marked = async (part: typeof chosen) => (await part.locator('.token.trained').allTextContents()).join('');
    expect(await marked(chosen)).toContain('It is 2.');
    expect(await marked(rejected)).toContain('Who knows <b>what</b> 1 is?');
    expect(await marked(chosen)).not.toContain('What is');
    const [left, right] = [await chosen.boundingBox(), await rejected.boundingBox()];
    expect(right!.x).toBeGreaterThan(left!.x + left!.width - 1);
    expect(right!.y).toBe(left!.y);
    expect(await page.getByLabel('Trained turns').count()).toBe(0);
    await expectAccessible(page);

    await page.getByLabel('Show').selectOption('messages');
    await rejected.getByText('Who knows <b>what</b> 1 is?').waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 375, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
    expect(faults).toEqual([]);
  });

  test('leads to a job, which leads back to it', async () => {
    const { page, faults } = await visit(browser!, server.url);
    await enterKey(page, server.apiKey);
    await openPage(page, '/data/~/demo/pairs:v0');
    await page.getByLabel('Model', { exact: true }).fill('polite');
    await page.keyboard.press('Tab');
    await page.getByText('No model has this in its name. A new one is named project/name.').waitFor();
    await page.getByLabel('Model', { exact: true }).fill('demo/polite');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Create demo/polite' }).click();
    await page.getByRole('button', { name: 'Create demo/polite' }).waitFor({ state: 'detached' });
    await expect.poll(() => page.getByLabel('Model', { exact: true }).inputValue()).toBe('demo/polite');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('heading', { name: 'DPO job' }).waitFor();
    await page.getByRole('link', { name: 'demo/pairs:v0' }).click();
    await page.getByRole('heading', { name: 'pairs:v0' }).waitFor();
    await openPage(page, '/episodes');
    await page.getByText('No episodes yet').waitFor();
    expect(await page.getByText('No more').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('is uploaded, trained by examples, and deleted', async () => {
    const { page, faults } = await visit(browser!, server.url);
    await enterKey(page, server.apiKey);
    await openPage(page, '/data');
    const buffer = Buffer.from(LINES.slice(0, 4).join('\n'));
    await page.getByLabel('Files').setInputFiles({ name: 'my rows.jsonl', mimeType: 'application/jsonl', buffer });
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('my-rows');
    await page.getByLabel('Project', { exact: true }).fill('uploads');
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByRole('heading', { name: 'my-rows:v0' }).waitFor();
    await page.getByLabel('Model', { exact: true }).fill('uploads/taught');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Create uploads/taught' }).click();
    await page.getByRole('button', { name: 'Create uploads/taught' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('heading', { name: 'SFT job' }).waitFor();
    await page.locator('.status.succeeded').first().waitFor();
    await page.getByRole('link', { name: 'uploads/my-rows:v0' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('heading', { name: 'Data', exact: true }).waitFor();
    await page.getByRole('link', { name: 'rows:v0', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'my-rows:v0' }).count()).toBe(0);
    expect(faults).toEqual([]);
  });
});
