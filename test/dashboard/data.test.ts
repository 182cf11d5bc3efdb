// Training data in the dashboard: which tokens would be learnt, as the API says.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type RunningServer } from '../../examples/shared/server.ts';
import { enterKey, expectAccessible, openBrowser, openPage, visit } from './browser.ts';

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

describe.skipIf(browser === null)('training data', () => {
  let directory: string;
  let server: RunningServer;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'whetstone-dashboard-'));
    server = await startServer(directory);
    const url = `${server.url}/v1/artifacts/~/demo/rows/train.jsonl`;
    const headers = { authorization: `Bearer ${server.apiKey}` };
    expect((await fetch(url, { method: 'PUT', headers, body: LINES.join('\n') })).status).toBe(201);
  });
  afterAll(async () => {
    await browser?.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test('is listed, and each row shows what of it is learnt', async () => {
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
});
