// The machine's own Chromium (or the one that WHETSTONE_CHROMIUM names), driven by playwright-core, which downloads nothing. Null
// if there is none.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { expect } from 'vitest';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function openBrowser(): Promise<Browser | null> {
  const executablePath = process.env['WHETSTONE_CHROMIUM'] ?? PLACES.find((path) => existsSync(path));
  if (executablePath === undefined) return null;
  // Chromium's sandbox refuses to run as root, as CI does; the pages are ours.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

export interface Visit {
  readonly page: Page;
  /** Errors of scripts, refusals of the content security policy, requests to other hosts. */
  readonly faults: string[];
  /** Requests that the server refused, with their status. */
  readonly refused: string[];
}

/** In a new context, at the page that asks for a key. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const page = await (await browser.newContext({ reducedMotion: 'reduce', ...options })).newPage();
  page.setDefaultTimeout(90_000); // for hangs; busy machines are slow
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) faults.push(message.text());
  });
  page.on('request', (request) => {
    if (new URL(request.url()).host !== new URL(url).host && !request.url().startsWith('blob:'))
      faults.push(request.url());
  });
  const refused: string[] = [];
  page.on('response', (answer) => {
    if (answer.status() >= 400) refused.push(`${answer.status()} ${answer.url()}`);
  });
  await page.goto(url);
  return { page, faults, refused };
}

export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor();
}

/** The part of the address after `#`. */
export async function openPage(page: Page, path: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(path)}`);
}

/** Expects that axe finds no accessibility problems on the page. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  const told = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`);
  expect(told).toEqual([]);
}
