// Trajectories over steps and prompts, compared with each other and with the API; and hostile text, which has no effect.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipWithout } from '../../support/skipping.ts';
import { openGuesser, type Guesser, type List } from '../../support/dashboard/a-guesser.ts';
import { enterKey, expectAccessible, openBrowser, openPage, visit } from '../../support/dashboard/browser.ts';

const browser: Browser | null = await openBrowser();

interface Group {
  readonly index: number;
  readonly rewards: readonly number[];
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const HOSTILE = [
  `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`,
  '\u001b[31mred\u001b[0m and \u202egnp.exe\u202c',
  '\ufffd half',
  'x'.repeat(3_000_000),
];

describe('trajectories', skipWithout('CHROMIUM', browser !== null), () => {
  let guesser: Guesser;
  let page: Page;
  let faults: string[];
  const groupsOf = async (step: number) =>
    (await guesser.get<List<Group>>(`/v1/preview/training-jobs/${guesser.jobs[step - 1]}/groups`)).data;
  const open = (query = '') => openPage(page, `/models/${guesser.model.id}/trajectories${query}`);
  beforeAll(async () => {
    guesser = await openGuesser(2);
    const trajectories = HOSTILE.map((content, at) => ({
      messages_and_choices: [
        { role: 'user', content },
        { role: 'assistant', content },
      ],
      reward: at,
      metadata: { '<b>name</b>': content.slice(0, 100) },
    }));
    const body = { split: 'val <i>', trajectory_groups: [{ trajectories, logs: [HOSTILE[1]] }] };
    await guesser.send('POST', `/v1/preview/models/${guesser.model.id}/log`, body);
    ({ page, faults } = await visit(browser!, guesser.server.url, { viewport: { width: 1600, height: 900 } }));
    await enterKey(page, guesser.server.apiKey);
  });
  afterAll(async () => {
    await browser?.close();
    await guesser.close();
  });

  test('are those of the latest step; a slider shows others, sorted by the selected column', async () => {
    await open();
    await page.getByText('12 trajectories').waitFor();
    await page.getByRole('button', { name: /^Reward/ }).click();
    const rewards = async () =>
      (await page.locator('.line-cells > .number:nth-child(2)').allInnerTexts()).map((text) =>
        Number(/[\d.]+$/.exec(text)![0]),
      );
    const expected = async (step: number) =>
      (await groupsOf(step)).flatMap((group) => group.rewards).sort((a, b) => b - a);
    const shown = await rewards();
    (await expected(2)).forEach((reward, at) => expect(shown[at]).toBeCloseTo(reward, 3));
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Step before' }).click();
    await page.getByText('1 of 2').waitFor();
    await page.getByText('12 trajectories').waitFor();
    expect(page.url()).toContain('step=1');
  });

  test('are filtered and sorted by the address, gone through with keys, and a link shows what its sender saw', async () => {
    await open('?split=val+%3Ci%3E');
    await page.getByText('4 trajectories').waitFor();
    await page.getByLabel('Reward from').fill('1');
    await page.keyboard.press('Enter');
    await page.getByText('3 of 4 trajectories').waitFor();
    await page.getByRole('button', { name: /^Reward/ }).click();
    await page.getByRole('heading', { level: 1 }).click(); // out of the field
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const isOpen = () => page.getByRole('button', { name: 'Trajectory', expanded: true }).allInnerTexts();
    await expect.poll(async () => (await isOpen()).map((text) => text.replace(/[^\d.]/g, ''))).toEqual(['0.2']);
    await expectAccessible(page);
    await page.reload();
    await page.getByText('3 of 4 trajectories').waitFor();
    expect((await isOpen()).map((text) => text.replace(/[^\d.]/g, ''))).toEqual(['0.2']);
    await page.keyboard.press('Escape');
    await expect.poll(isOpen).toEqual([]);
  });

  test('are found by their words, and opened in their place', async () => {
    await open('?split=val+%3Ci%3E');
    await page.getByText('4 trajectories').waitFor();
    await page.getByRole('searchbox').fill('GNP.exe');
    await page.keyboard.press('Enter');
    await page.getByText('1 trajectory').waitFor();
    await page.getByRole('button', { name: 'Trajectory 0.1' }).click();
    await page.locator('.line-open .message').first().waitFor();
    expect(await page.locator('.line-open .message').first().innerText()).toContain('U+001B');
    expect(await page.locator('.line-open .mark').allInnerTexts()).toContain('U+202E');
  });

  test('with hostile text have no effect on the page, and long ones are cut until the reader asks for more', async () => {
    await open('?split=val+%3Ci%3E');
    await page.getByText('4 trajectories').waitFor();
    await page.getByRole('button', { name: 'Trajectory 0.0' }).click();
    await page.locator('.line-open').getByText(HOSTILE[0]!).first().waitFor();
    await page.getByRole('button', { name: 'Trajectory 0.3' }).click();
    await page
      .getByRole('button', { name: /more characters/ })
      .first()
      .waitFor();
    expect(await page.title()).toContain('Trajectories');
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect((await page.locator('main').innerText()).length).toBeLessThan(200_000);
    await page.getByRole('link', { name: 'Group 0' }).first().click();
    await page.getByRole('heading', { name: 'Group 0' }).waitFor();
    await page.getByRole('article').first().locator('.message').first().waitFor();
    await expectAccessible(page);
  });

  test('of a prompt are told apart by its secret, and compared with another step', async () => {
    await page.setViewportSize({ width: 375, height: 800 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await open('?view=prompts&versus=1');
    const [now, before] = [await groupsOf(2), await groupsOf(1)];
    const rows = page.getByRole('row').filter({ hasText: 'secret' });
    await rows.nth(2).waitFor();
    const [worst] = now.toSorted((a, b) => mean(a.rewards) - mean(b.rewards));
    expect(await rows.first().getByRole('link').innerText()).toBe(String(worst!.index));
    const verdict = page.getByRole('status').filter({ hasText: 'Mean reward' });
    await verdict.waitFor();
    const told = [...(await verdict.innerText()).matchAll(/\d\.\d+/g)].map(Number);
    expect(told[0]).toBeCloseTo(mean(before.map((group) => mean(group.rewards))), 3);
    expect(told[1]).toBeCloseTo(mean(now.map((group) => mean(group.rewards))), 3);
    await page.getByText('4 equal rewards').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
    await expectAccessible(page);
    expect(faults).toEqual([]);
  });
});
