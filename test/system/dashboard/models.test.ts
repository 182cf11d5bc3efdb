// What people do with models in the dashboard: filter, tag, archive and delete them, and see what their online training waits for.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type RunningServer } from '../../../examples/shared/server.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import { enterKey, expectAccessible, openBrowser, openPage, visit } from '../../support/dashboard/browser.ts';
import { skipWithout } from '../../support/skipping.ts';

const browser = await openBrowser();

describe('models', skipWithout('CHROMIUM', browser !== null), () => {
  let directory: string;
  let server: RunningServer;
  let client: Client;
  let page: Page;
  let faults: readonly string[];
  let refused: readonly string[];
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'whetstone-models-'));
    server = await startServer(directory);
    client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
    for (const [project, name] of [
      ['demo', 'kept'],
      ['demo', 'old'],
      ['other', 'agent'],
    ] as const) {
      const { id } = await client.registerModel({ project, name, base_model: 'whetstone/starter' });
      ids[name] = id;
    }
    await client.setOnlineTraining(ids['agent']!, { groups_per_step: 4 });
    await client.createEpisode({ model_id: ids['agent']!, group: 'first-group' });
    ({ page, faults, refused } = await visit(browser!, server.url));
    await enterKey(page, server.apiKey);
  });
  afterAll(async () => {
    await browser?.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const link = (name: string) => page.getByRole('link', { name, exact: true }).first();

  test('get tags and a note, and are found by tag and project; what is shown is in the address', async () => {
    await openPage(page, `/models/${ids['kept']}`);
    await page.getByRole('button', { name: 'Add tags or a note' }).click();
    await page.getByLabel('Tags, with spaces between').fill('best, rl');
    await page.getByLabel('Note').fill('Learned in ten steps.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Learned in ten steps.').waitFor();
    await expectAccessible(page);
    expect(await client.getModel(ids['kept']!)).toMatchObject({ tags: ['best', 'rl'], note: 'Learned in ten steps.' });
    await link('best').click();
    await link('demo/kept').waitFor();
    expect(page.url()).toContain('tag=best');
    expect(await page.getByRole('link', { name: 'demo/old' }).count()).toBe(0);
    await openPage(page, '/');
    await page.getByLabel('Project').selectOption('other');
    await page.getByRole('link', { name: 'demo/kept' }).first().waitFor({ state: 'detached' });
    expect(page.url()).toContain('project=other');
    await link('other/agent').waitFor();
    await expectAccessible(page);
  });

  test('are archived, found again among the archived, and deleted', async () => {
    await openPage(page, `/models/${ids['old']}`);
    const act = async (action: string) => {
      await page.getByRole('button', { name: action, exact: true }).first().click();
      await page.getByRole('dialog', { name: action }).getByRole('button', { name: action }).click();
    };
    await act('Archive');
    await page.getByRole('button', { name: 'Bring back', exact: true }).first().waitFor();
    expect((await client.getModel(ids['old']!)).archived_at).not.toBeNull();
    await openPage(page, '/');
    await link('demo/kept').waitFor();
    expect(await page.getByRole('link', { name: 'demo/old' }).count()).toBe(0);
    await page.getByLabel('archived', { exact: true }).check();
    await link('demo/old').click();
    await page.getByRole('heading', { name: 'old', exact: true }).waitFor();
    await act('Delete model');
    await link('demo/kept').waitFor();
    await expect(client.getModel(ids['old']!)).rejects.toMatchObject({ status: 404 });
  });

  test('show what the next step of their online training waits for', async () => {
    await openPage(page, `/models/${ids['agent']}`);
    await page.getByRole('heading', { name: 'Online training' }).waitFor();
    const { waiting_for: waits } = await client.getOnlineTraining(ids['agent']!);
    await page.getByText(waits).waitFor();
    await link('first-group').waitFor();
    await expectAccessible(page);
    await openPage(page, `/models/${ids['kept']}`); // a model without any
    await page.getByRole('heading', { name: 'kept', exact: true }).waitFor();
    await page.waitForLoadState('networkidle');
    expect([faults, refused]).toEqual([[], []]);
  });
});
