// The pages of episodes: the list as it is filtered, one episode as trees of turns, and the ways to its job and back.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type RunningServer } from '../../../examples/shared/server.ts';
import { createClient, type Client, type EpisodeCall } from '../../../src/client/client.ts';
import { skipWithout } from '../../support/skipping.ts';
import { runAgents, type AgentRuns } from '../../support/dashboard/agent-runs.ts';
import {
  enterKey,
  expectAccessible,
  openBrowser,
  openPage,
  visit,
  type Visit,
} from '../../support/dashboard/browser.ts';

const browser = await openBrowser();

describe('episodes', skipWithout('CHROMIUM', browser !== null), () => {
  let directory: string;
  let server: RunningServer;
  let client: Client;
  let runs: AgentRuns;
  let seen: Visit;
  let page: Page;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'whetstone-dashboard-'));
    server = await startServer(directory);
    client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
    const model = await client.registerModel({ project: 'agents', name: 'mender', base_model: 'whetstone/starter' });
    await client.registerModel({ project: 'agents', name: 'idle', base_model: 'whetstone/starter' });
    runs = await runAgents(server.url, server.apiKey, client, model);
    seen = await visit(browser!, server.url, { viewport: { width: 1400, height: 900 } });
    page = seen.page;
    await enterKey(page, server.apiKey);
  });
  afterAll(async () => {
    await browser?.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** The names in the list, once they are these. */
  const expectListed = (names: readonly string[]) =>
    expect
      .poll(() => page.getByRole('region', { name: 'Episodes' }).locator('tbody tr td:first-child').allInnerTexts())
      .toEqual(names);
  const fill = async (label: string, text: string) => {
    await page.getByLabel(label, { exact: true }).fill(text);
    await page.keyboard.press('Enter');
  };

  test('are listed newest first, and filtered by what the address says', async () => {
    await page.getByRole('link', { name: 'Episodes', exact: true }).click();
    await expectListed(['attempt-3', 'attempt-2', 'attempt-1']);
    await expectAccessible(page);
    await page.getByLabel('State').selectOption('trained');
    await expectListed(['attempt-2', 'attempt-1']);
    await fill('Reward from', '0.5');
    await expectListed(['attempt-1']);
    await openPage(page, '/episodes?search=ZEBRA&max=0.5');
    await expectListed(['attempt-2']);
    await page.getByRole('link', { name: 'Show all' }).click();
    await fill('Text', 'attempt-3');
    await expectListed(['attempt-3']);
    expect(new URL(page.url()).hash).toBe('#/episodes?search=attempt-3');
    await page.getByRole('link', { name: 'Show all' }).click();
    await fill('Model', 'idle');
    await page.getByText('No episode matches').waitFor();
    await fill('Model', 'agents/mender');
    await page.getByRole('link', { name: 'fix-the-bug' }).first().click();
    await expectListed(['attempt-2', 'attempt-1']);
    expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe('agents/mender');
  });

  test('are trees of turns: retries beside the turn that they left, subagents apart, cut and untrained calls marked', async () => {
    const id = runs.episodes['attempt-2']!;
    await openPage(page, `/episodes/${id}`);
    await page.getByRole('heading', { level: 1, name: 'attempt-2' }).waitFor();
    const calls: EpisodeCall[] = [];
    for await (const call of client.listEpisodeCalls(id)) calls.push(call);
    const turns = page.getByRole('article');
    await expect.poll(() => turns.count()).toBe(calls.length);
    const roots = calls.filter(({ parent_id }) => parent_id === null);
    expect(roots.length).toBeGreaterThan(2);
    await page.getByRole('heading', { name: `Conversation 1 of ${roots.length}` }).waitFor();
    for (const [at, { cut, trained, prompt_tokens, choices }] of calls.entries()) {
      const turn = page.getByRole('article', { name: `Turn ${at + 1}`, exact: true });
      expect(await turn.getByText('cut off', { exact: true }).count()).toBe(cut ? 1 : 0);
      expect(await turn.getByText('not trained', { exact: true }).count()).toBe(trained ? 0 : 1);
      expect(await turn.locator('header').innerText()).toContain(`${prompt_tokens} tokens in`);
      for (const { content } of choices.filter((each) => each.content.trim() !== '' && !cut))
        expect(await turn.innerText()).toContain(content.trim().split('\n')[0]);
    }
    expect(calls.filter(({ cut }) => cut)).toHaveLength(1);
    const first = page.getByRole('article', { name: 'Turn 1', exact: true });
    await first.getByText('2 tools: read_file, run_tests').click();
    await first.getByText('Does run_tests.').waitFor();
    await first.getByText('The parser fails on <b>empty</b> input.').waitFor();
    await expectAccessible(page);
  });

  test('have branches, tokens with their log-probabilities, and a way to their job and back', async () => {
    const id = runs.episodes['attempt-1']!;
    await openPage(page, `/episodes/${id}`);
    const [call] = await collect(client.listEpisodeTokens(id));
    const first = page.getByRole('article', { name: 'Turn 1', exact: true });
    await first.getByRole('button', { name: 'Tokens' }).click();
    const tokens = first.locator('.tokens');
    await tokens.waitFor();
    expect(await tokens.getAttribute('aria-label')).toContain(`${call!.choices[0]!.token_ids.length} tokens`);
    await page.getByText('<i>me</i>').waitFor();
    await expectAccessible(page);

    await page.getByRole('link', { name: /^group 0, trajectory 0$/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Group 0, trajectory 0' }).waitFor();
    await page.getByRole('link', { name: 'Episode attempt-1' }).click();
    await page.getByRole('heading', { level: 1, name: 'attempt-1' }).waitFor();
    await openPage(page, `/jobs/${runs.jobId}`);
    await page.getByRole('main').getByRole('link', { name: 'Episodes' }).click();
    await expectListed(['attempt-2', 'attempt-1']);
    await page.setViewportSize({ width: 390, height: 800 });
    for (const path of ['/episodes', `/episodes/${id}`]) {
      await openPage(page, path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    }
  });

  test('are deleted from their page', async () => {
    await openPage(page, `/episodes/${runs.episodes['attempt-3']!}`);
    await page.getByText('No calls yet').waitFor();
    await page.getByRole('button', { name: 'Delete episode' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete episode' }).click();
    await expectListed(['attempt-2', 'attempt-1']);
    expect(seen.faults).toEqual([]);
  });
});

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
}
