// The pages of a run, as a user visits them while a real job runs, compared with the API.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reinforce } from '../../../examples/demo/rl-loop.ts';
import { yesNoMaybe } from '../../../examples/demo/tasks.ts';
import { startServer, type RunningServer } from '../../../examples/shared/server.ts';
import { createClient, type Client, type Model } from '../../../src/client/client.ts';
import { skipWithout } from '../../support/skipping.ts';
import {
  enterKey,
  expectAccessible,
  openBrowser,
  openPage,
  visit,
  type Visit,
} from '../../support/dashboard/browser.ts';

const browser = await openBrowser();
const HOSTILE = '<b>bold\u200btxt';

describe('the pages of a run', skipWithout('CHROMIUM', browser !== null), () => {
  let directory: string;
  let server: RunningServer;
  let client: Client;
  let model: Model;
  let seen: Visit;
  let page: Page;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'whetstone-pages-'));
    server = await startServer(directory);
    client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
    model = await client.registerModel({ project: 'demo', name: 'words', base_model: 'whetstone/starter' });
    const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey });
    const task = { ...yesNoMaybe, steps: 2, rolloutsPerPrompt: 4 };
    for await (const _ of reinforce(openai, client, model, task)) continue;
    seen = await visit(browser!, server.url);
    page = seen.page;
    await enterKey(page, server.apiKey);
  });
  afterAll(async () => {
    await browser?.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const shown = (text: string) => page.getByText(text, { exact: true }).first().waitFor();
  const heading = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor();

  test('Home names the model with its last reward, and the jobs', async () => {
    const [checkpoint] = await collect(client.listCheckpoints(model.id, { order: 'desc' }));
    await page.getByRole('link', { name: 'demo/words' }).first().waitFor();
    await shown(checkpoint!.metrics['train/reward']!.toFixed(4).replace(/^1\.0000$/, '1'));
    await page.getByRole('link', { name: 'RL step 2' }).first().waitFor();
    await expectAccessible(page);
  });

  test('a model has its curves, its checkpoints and its jobs; a fork, and a checkpoint that goes', async () => {
    await openPage(page, `/models/${model.id}`);
    await heading('Curves');
    expect(await page.title()).toBe('words · demo · Whetstone');
    const history = await collect(client.listHistory(model.id));
    await shown(`${history.at(-1)!.metrics['loss']!.toFixed(4).replace('-', '−')}`);
    await expectAccessible(page);
    await page.getByText(/^Metrics: \d+ of \d+$/).click();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByLabel('Log scale').check();
    await page.getByRole('heading', { name: 'grad_norm' }).waitFor();
    await expect.poll(() => page.url()).toContain('scale=log');
    await page.goBack();
    await expect.poll(() => page.getByLabel('Log scale').isChecked()).toBe(false);
    expect(await page.title()).toBe('words · demo · Whetstone');

    await page.getByPlaceholder('new name').fill(HOSTILE);
    await page.getByRole('button', { name: 'Fork' }).click();
    await page.getByRole('heading', { level: 1, name: '<b>bold' }).waitFor();
    expect(await page.getByText('U+200B').count()).toBeGreaterThan(0);
    await openPage(page, `/models/${model.id}`);

    await page.getByRole('button', { name: 'Delete', exact: true }).last().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('demo/words:step0', { exact: true }).first().waitFor({ state: 'detached' });
    expect((await collect(client.listCheckpoints(model.id))).map(({ step }) => step)).toEqual([1, 2]);
  });

  test('a job has its steps, groups with rewards, settings and events, and is live while it runs', async () => {
    const [job] = await collect(client.listTrainingJobs({ model_id: model.id }));
    await openPage(page, `/jobs/${job!.id}`);
    await heading('Groups');
    const groups = await collect(client.listJobGroups(job!.id));
    await page.getByRole('link', { name: String(groups.length - 1), exact: true }).waitFor();
    await shown(groups[0]!.prompt!);
    await shown('loss_fn');
    await page.getByText('training ended').waitFor();
    await shown('gradient step 1');
    await shown('optimizer.beta1');
    await page.getByRole('link', { name: 'Try demo/words:step1' }).waitFor();
    expect(await page.title()).toBe('RL job, step 1 · demo/words · Whetstone');
    await expectAccessible(page);

    const next = await client.submitTrainingJob({ model_id: model.id, trajectory_groups: [] });
    await openPage(page, `/jobs/${next.id}`);
    await page
      .getByText(/training (ended|failed)/)
      .first()
      .waitFor();
    const { status } = await client.getTrainingJob(next.id);
    await page.locator('.tile .status').getByText(status).waitFor();
  });

  test('a key is made, shown once and revoked; usage adds up', async () => {
    await openPage(page, '/keys');
    await page.getByLabel('Name').fill('for a test');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Copy it now: it is not shown again.').waitFor();
    const secret = await page.locator('.secret').innerText();
    const other = createClient({ baseUrl: server.url, apiKey: secret });
    expect(await other.listBaseModels()).toEqual(['whetstone/starter']);
    await expectAccessible(page);
    await page.getByRole('row', { name: 'for a test' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: 'for a test' }).getByText('revoked').waitFor();
    await expect(other.listCallableModels()).rejects.toMatchObject({ status: 401 });
    await page.getByRole('region', { name: 'Usage' }).getByText('demo/words', { exact: true }).first().waitFor();
  });

  test('workers are named, or that there are none', async () => {
    await openPage(page, '/workers');
    await page.getByText('No workers are connected').waitFor();
    await expectAccessible(page);
  });

  test('and no script failed, nothing was refused, no other host was contacted', () => expect(seen.faults).toEqual([]));
});

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
}
