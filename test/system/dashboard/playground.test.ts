// The playground with the real server: two checkpoints answer, tokens show their numbers, answers are stopped, requests copied.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipWithout } from '../../support/skipping.ts';
import { openGuesser, type Guesser } from '../../support/dashboard/a-guesser.ts';
import { enterKey, expectAccessible, openBrowser, openPage, visit } from '../../support/dashboard/browser.ts';

const browser: Browser | null = await openBrowser();
const QUESTION = 'Guess a number between 1 and 20.';

describe('the playground', skipWithout('CHROMIUM', browser !== null), () => {
  let guesser: Guesser;
  let page: Page;
  let faults: string[];
  const nameAt = (step: number) => `${guesser.model.entity}/${guesser.model.project}/${guesser.model.name}@${step}`;
  const lane = (number: number) => page.getByRole('region', { name: `Conversation ${number}` });
  beforeAll(async () => {
    guesser = await openGuesser(1);
    ({ page, faults } = await visit(browser!, guesser.server.url, { viewport: { width: 1600, height: 900 } }));
    await enterKey(page, guesser.server.apiKey);
    await openPage(page, `/playground?model=${encodeURIComponent(nameAt(0))}&other=${encodeURIComponent(nameAt(1))}`);
  });
  afterAll(async () => {
    await browser?.close();
    await guesser.close();
  });

  const setting = (name: string) => page.getByLabel(name, { exact: true });

  test('has two checkpoints answer one prompt, each as the API would', async () => {
    await setting('temperature').fill('0');
    await page.getByLabel('Message').fill(QUESTION);
    await page.keyboard.press('Enter');
    for (const step of [0, 1]) {
      const body = { model: nameAt(step), temperature: 0, messages: [{ role: 'user', content: QUESTION }] };
      const { choices } = (await guesser.send('POST', '/v1/chat/completions', {
        ...body,
        ...{ max_tokens: 200, logprobs: true },
      })) as { choices: { message: { content: string }; logprobs: { content: { logprob: number }[] } }[] };
      const shown = lane(step + 1);
      await shown.getByText('mean logprob').waitFor();
      const text = async () => (await shown.locator('.token').allTextContents()).join('').replace('<|im_end|>', '');
      await expect.poll(text).toBe(choices[0]!.message.content); // it is shown as it comes
      const logprobs = choices[0]!.logprobs.content.map(({ logprob }) => logprob);
      const mean = logprobs.reduce((sum, logprob) => sum + logprob, 0) / logprobs.length;
      const told = /mean logprob ([−\d.]+)/.exec(await shown.innerText())![1]!.replace('−', '-');
      expect(Number(told)).toBeCloseTo(mean, 3);
    }
    await lane(1).locator('.token').first().hover();
    await page.getByText('sampler logprob').waitFor();
    await expectAccessible(page);
  });

  test('stops an answer', async () => {
    await page.getByRole('button', { name: 'Remove other model' }).click();
    await page.getByText('Length and stopping').click();
    await setting('ignore_eos').selectOption('true');
    await setting('max_tokens').fill('900');
    await page.getByLabel('Message').fill('Go on.');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stop' }).click();
    await lane(1).getByText('stopped').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
  });

  test('keeps an answer to a format, and shows parse errors at the field', async () => {
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('Tools and output format').click();
    await setting('ignore_eos').selectOption('');
    await setting('structured_outputs').fill('{"choice": ["left", "ri');
    await page.getByText(/^This is not valid JSON/).waitFor();
    await setting('structured_outputs').fill('{"choice": ["left", "right"]}');
    await page.getByLabel('none', { exact: true }).check({ force: true });
    await page.getByLabel('Message').fill('Where?');
    await page.keyboard.press('Enter');
    await lane(1).getByText('mean logprob').waitFor();
    expect(await lane(1).locator('.from-assistant .text-block').innerText()).toMatch(/^(left|right)$/);
  });

  test('shows the server’s refusals, and copies the request without the key', async () => {
    await setting('top_p').fill('7');
    await page.getByLabel('Message').fill('Again?');
    await page.keyboard.press('Enter');
    await lane(1).getByRole('alert').filter({ hasText: 'top_p' }).waitFor();
    for (const [name, part] of [
      ['curl', '"content": "Again?"'],
      ['TypeScript', 'client.chat.completions.create({'],
      ['Python', 'extra_body={'],
    ] as const) {
      await page.getByRole('button', { name }).click();
      const code = await page.getByLabel(`Request as ${name}`).innerText();
      expect(code).toContain(part);
      expect(code).not.toContain(guesser.server.apiKey);
    }
    await page.setViewportSize({ width: 375, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
    await expectAccessible(page);
    expect(faults).toEqual([]);
  });
});
