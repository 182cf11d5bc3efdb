// The page of a group with the real server, compared with the API.
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipWithout } from '../../support/skipping.ts';
import { openGuesser, type Guesser, type List } from '../../support/dashboard/a-guesser.ts';
import { enterKey, expectAccessible, openBrowser, openPage, visit } from '../../support/dashboard/browser.ts';

const browser: Browser | null = await openBrowser();

interface Tokens {
  readonly index: number;
  readonly reward: number;
  readonly advantage: number;
  readonly reason: string | null;
  readonly sequences: readonly {
    readonly texts: readonly string[];
    readonly trained: readonly boolean[];
    readonly token_ids: readonly number[];
    readonly sampler_logprobs: readonly (number | null)[];
    readonly trainer_logprobs: readonly (number | null)[];
    readonly ratios: readonly (number | null)[];
    readonly advantage: number;
    readonly weight: number;
  }[];
}

const titlesOf = async (elements: Locator) =>
  Promise.all((await elements.all()).map((element) => element.getAttribute('title')));

describe('a group', skipWithout('CHROMIUM', browser !== null), () => {
  let guesser: Guesser;
  let page: Page;
  let faults: string[];
  let tokens: readonly Tokens[];
  const path = (group: number) => `/jobs/${guesser.jobs[0]}/groups/${group}`;
  beforeAll(async () => {
    guesser = await openGuesser(1);
    tokens = (await guesser.get<List<Tokens>>(`/v1/preview/training-jobs/${guesser.jobs[0]}/groups/0/tokens`)).data;
    ({ page, faults } = await visit(browser!, guesser.server.url, { viewport: { width: 1600, height: 900 } }));
    await enterKey(page, guesser.server.apiKey);
  });
  afterAll(async () => {
    await browser?.close();
    await guesser.close();
  });

  test('shows its trajectories side by side, best reward first, as the API has them', async () => {
    await openPage(page, path(0));
    const columns = page.getByRole('article');
    await columns.first().locator('.token').first().waitFor();
    const best = tokens.toSorted((a, b) => b.reward - a.reward);
    expect(await columns.locator('header a').allInnerTexts()).toEqual(best.map(({ index }) => `#${index}`));
    expect(await titlesOf(columns.locator('.reward'))).toEqual(best.map(({ reward }) => `reward ${reward}`));
    expect(await titlesOf(columns.locator('.advantage'))).toEqual(
      best.map(({ advantage }) => `advantage ${advantage}`),
    );
    const trained = best[0]!.sequences[0]!;
    const said = trained.texts.filter((_, at) => trained.trained[at]).join('');
    expect((await columns.first().locator('.token').allInnerTexts()).join('')).toBe(said);
    await expectAccessible(page);
  });

  test('shows all numbers of a token to the mouse and to the arrow keys', async () => {
    const best = tokens.toSorted((a, b) => b.reward - a.reward)[0]!;
    const [sequence] = best.sequences;
    const at = sequence!.trained.indexOf(true);
    const expected = {
      'token id': sequence!.token_ids[at]!,
      'sampler logprob': sequence!.sampler_logprobs[at]!,
      'trainer logprob': sequence!.trainer_logprobs[at]!,
      ratio: sequence!.ratios[at]!,
      advantage: sequence!.advantage,
      weight: sequence!.weight,
    };
    const check = async () => {
      const card = page.getByRole('status').filter({ hasText: 'token id' });
      await card.waitFor();
      const lines = (await card.innerText()).split('\n');
      for (const [label, value] of Object.entries(expected)) {
        const shown = lines[lines.indexOf(label) + 1]!.replace('−', '-');
        expect(Number.parseFloat(shown), label).toBeCloseTo(value, 5);
      }
    };
    await page.locator('.token').first().hover();
    await check();
    await page.mouse.move(0, 0);
    await page.locator('.tokens').first().focus();
    await page.keyboard.press('ArrowRight');
    await check();
    await page.keyboard.press('Escape');
  });

  test('colours by the number that is chosen', async () => {
    const first = page.getByRole('article').first();
    await page.getByLabel('advantage', { exact: true }).check({ force: true });
    await first.locator('.tone-d1, .tone-d2, .tone-d3, .tone-d4').first().waitFor();
    await page.getByLabel('none', { exact: true }).check({ force: true });
    await first.getByText('assistant').first().waitFor();
    expect(await first.locator('.token').count()).toBe(0);
    await page.locator('h1').click();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'Group 1' }).waitFor();
    expect(await page.getByLabel('none', { exact: true }).isChecked()).toBe(true); // and so do the next groups
  });

  test('says why nothing of it was trained, and is left with j and k', async () => {
    await openPage(page, path(0));
    await page.locator('h1').click();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'Group 1' }).waitFor();
    await page.keyboard.press('j');
    await page.getByText('4 not trained: equal rewards.').waitFor();
    await page.getByText('Not trained: equal rewards.').first().waitFor();
    expect(await page.getByRole('link', { name: /Next/ }).count()).toBe(0);
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'Group 1' }).waitFor();
  });

  test('has a page for one trajectory, with the sequence as it was trained, on a small dark screen too', async () => {
    await page.setViewportSize({ width: 375, height: 800 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await openPage(page, `${path(0)}?trajectory=${tokens[0]!.index}`);
    await page.getByRole('heading', { name: 'Sequence 1, as it was trained' }).waitFor();
    const [sequence] = tokens[0]!.sequences;
    const raw = page.locator('.section', { hasText: 'Sequence 1, as it was trained' }).locator('.token');
    expect((await raw.allTextContents()).join('')).toBe(sequence!.texts.join(''));
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
    await expectAccessible(page);
    expect(faults).toEqual([]);
  });
});
