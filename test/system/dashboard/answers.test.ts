// Held-out answers on the pages: which prompts a checkpoint fails, and whether it is better than another, compared with the API.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipWithout } from '../../support/skipping.ts';
import { openGuesser, type Guesser, type List } from '../../support/dashboard/a-guesser.ts';
import { enterKey, expectAccessible, openBrowser, openPage, visit } from '../../support/dashboard/browser.ts';

const browser: Browser | null = await openBrowser();

interface AnsweredPrompt {
  readonly index: number;
  readonly metadata: Readonly<Record<string, number>>;
  readonly answers: readonly {
    readonly message: { readonly content: string };
    readonly token_ids: readonly number[];
    readonly reward: number;
  }[];
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const meanOf = ({ answers }: AnsweredPrompt) => mean(answers.map(({ reward }) => reward));

describe('held-out answers', skipWithout('CHROMIUM', browser !== null), () => {
  let guesser: Guesser;
  let page: Page;
  let faults: string[];
  const answersOf = async (step: number) =>
    (
      await guesser.get<List<AnsweredPrompt>>(
        `/v1/preview/training-jobs/${guesser.jobs[step - 1]}/evaluation/answers?limit=100`,
      )
    ).data;
  beforeAll(async () => {
    guesser = await openGuesser(2, { evaluates: true });
    ({ page, faults } = await visit(browser!, guesser.server.url, { viewport: { width: 1600, height: 900 } }));
    await enterKey(page, guesser.server.apiKey);
  });
  afterAll(async () => {
    await browser?.close();
    await guesser.close();
  });

  test('are counted on the page of the job, and reached from the checkpoints of the model', async () => {
    await openPage(page, `/jobs/${guesser.jobs[1]}`);
    await page.getByText('16 of 16 prompts answered, 4 each').waitFor();
    await page.getByRole('link', { name: 'Answers', exact: true }).click();
    await page.getByRole('heading', { name: 'Held-out answers' }).waitFor();
    await openPage(page, `/models/${guesser.model.id}`);
    const { metrics } = (
      await guesser.get<List<{ metrics: Record<string, number> }>>(
        `/v1/preview/models/${guesser.model.id}/checkpoints?order=desc`,
      )
    ).data[0]!;
    const row = page.getByRole('region', { name: 'Checkpoints' }).getByRole('row').nth(1);
    await row.getByRole('link', { name: '16 prompts' }).waitFor();
    expect(Number(await cellUnder('val/reward'))).toBeCloseTo(metrics['val/reward']!, 3);
    expect(metrics['val/reward']).toBeCloseTo(mean((await answersOf(2)).map(meanOf)), 6);
    await page.getByLabel('Compare step 1').check();
    await page.getByLabel('Compare step 2').check();
    await page.getByRole('link', { name: 'Compare their held-out answers' }).click();
    await page.getByRole('heading', { name: 'Held-out answers' }).waitFor();

    async function cellUnder(title: string): Promise<string> {
      const table = page.getByRole('region', { name: 'Checkpoints' });
      const titles = await table.getByRole('columnheader').allInnerTexts();
      const at = titles.findIndex((each) => each.includes(title));
      return row.getByRole('cell').nth(at).innerText();
    }
  });

  test('of two checkpoints stand against each other, prompt by prompt, and the page says which is better', async () => {
    const [before, now] = [await answersOf(1), await answersOf(2)];
    const verdict = page.locator('.verdict');
    await verdict.waitFor();
    const [then, here] = [mean(before.map(meanOf)), mean(now.map(meanOf))];
    const changes = now.map((prompt, at) => meanOf(prompt) - meanOf(before[at]!));
    const error = Math.sqrt(mean(changes.map((each) => (each - mean(changes)) ** 2)) / (changes.length - 1));
    const told = (await verdict.innerText()).replaceAll('−', '-');
    const numbers = /Mean reward ([\d.]+) at step 1, ([\d.]+) at step 2: ([-+\d.]+) ± ([\d.]+)/.exec(told)!.slice(1);
    [then, here, here - then, error].forEach((value, at) => expect(Number(numbers[at])).toBeCloseTo(value, 3));
    const better = changes.filter((each) => each > 0).length;
    const worse = changes.filter((each) => each < 0).length;
    expect(told).toContain(`${better} of 16 prompts better, ${worse} worse`);
    expect(told).toContain(Math.abs(here - then) > 2 * error ? 'than step 1.' : 'do not differ measurably');
    await expectAccessible(page);
  });

  test('are in order, the worst first, and each prompt opens with every answer, its reward and its tokens', async () => {
    const now = await answersOf(2);
    const worst = now.toSorted((a, b) => meanOf(a) - meanOf(b))[0]!;
    const first = page.getByRole('list', { name: 'Held-out prompts' }).getByRole('listitem').first();
    await first.getByRole('button', { name: `Prompt ${worst.index}`, exact: true }).click();
    const answers = first.getByRole('region', { name: 'Step 2' }).getByRole('article');
    expect(await answers.count()).toBe(4);
    for (const [at, answer] of worst.answers.entries()) {
      expect(await answers.nth(at).locator('.reward').getAttribute('title')).toBe(`reward ${answer.reward}`);
      const text = await answers.nth(at).innerText();
      expect(text).toContain(`${answer.token_ids.length} token`);
      expect(text).toContain(answer.message.content.trim());
    }
    expect(await first.getByRole('region', { name: 'Step 1' }).getByRole('article').count()).toBe(4);
    await first.getByText('above').first().waitFor();
    await page.getByLabel('Order').selectOption('best first');
    const best = now.toSorted((a, b) => meanOf(b) - meanOf(a))[0]!;
    await first.getByRole('button', { name: `Prompt ${best.index}`, exact: true }).waitFor();
    await page.setViewportSize({ width: 375, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
    await expectAccessible(page);
    expect(faults).toEqual([]);
  });
});
