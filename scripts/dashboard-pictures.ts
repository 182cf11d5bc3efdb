// `npm run pictures -- --out <directory> [page …]`: takes pictures of every page of the dashboard, or of those named, in three
// widths, light and dark, to check how they look: after a short run of the number guessing example, or of the first model of the server at
// WHETSTONE_URL, with WHETSTONE_API_KEY. `-- --docs` writes the pictures of README.md into docs/images instead.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from '../src/client/client.ts';
import { runAgents } from '../test/support/dashboard/agent-runs.ts';
import { openGuesser } from '../test/support/dashboard/a-guesser.ts';
import { enterKey, openBrowser, openPage, visit } from '../test/support/dashboard/browser.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string', default: '.cache/pictures' }, docs: { type: 'boolean', default: false } },
});
const STEPS = 5;
const NARROW = { size: 'narrow', viewport: { width: 390, height: 844 } };
const MIDDLE = { size: 'middle', viewport: { width: 1024, height: 768 } };
const WIDE = { size: 'wide', viewport: { width: 1400, height: 900 } };
const LOOKS = [
  { ...WIDE, colorScheme: 'light' },
  { ...NARROW, colorScheme: 'dark' },
  { ...WIDE, colorScheme: 'dark' },
  { ...NARROW, colorScheme: 'light' },
  { ...MIDDLE, colorScheme: 'light' },
] as const;

const DOCS = { size: 'docs', viewport: { width: 1200, height: 1000 }, colorScheme: 'light' } as const;
const OF_DOCS = ['home', 'model', 'group'];

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** By name: its address, and an element that is there once the page is drawn. `jobs`: the newest first. */
const pagesOf = (
  model: string,
  jobs: readonly string[],
  episode: string,
): Readonly<Record<string, readonly [string, string]>> => ({
  home: ['/', '.sparkline'],
  jobs: ['/jobs', 'main table'],
  model: [`/models/${model}`, '.chart canvas'],
  job: [`/jobs/${jobs[0]}`, '.dots'],
  group: [`/jobs/${jobs.at(-1)}/groups/0`, '.token'],
  trajectory: [`/jobs/${jobs.at(-1)}/groups/0?trajectory=0`, '.token'],
  trajectories: [`/models/${model}/trajectories`, '.line-cells'],
  prompts: [`/models/${model}/trajectories?view=prompts&versus=1`, '.verdict'],
  answers: [`/models/${model}/answers?step=${jobs.length}&versus=1`, '.verdict'],
  episodes: ['/episodes', 'main table, main .state'],
  episode: [`/episodes/${episode}`, '.turn'],
  playground: ['/playground', 'main textarea'],
  data: ['/data', 'main table'],
  artifact: [`/data/default/games/${DATA}`, 'main .token'],
  keys: ['/keys', 'main table'],
  workers: ['/workers', 'main .state'],
});

const DATA = 'sums-data';

const browser = await openBrowser();
if (!browser) process.exit(1);
const { WHETSTONE_URL: url, WHETSTONE_API_KEY: apiKey } = process.env;
const running = url && apiKey ? { server: { url, apiKey }, close: async () => {} } : null;
const opened = running ?? (await openGuesser(STEPS, { evaluates: true }));
const { server } = opened;
const client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
if (!running) await addData();
const { model, jobs, episode } = await findRun();
const out = values.docs ? 'docs/images' : values.out;
const wanted = values.docs ? OF_DOCS : positionals;
await mkdir(out, { recursive: true });
for (const { size, viewport, colorScheme } of values.docs ? [DOCS] : LOOKS) {
  const { page, faults } = await visit(browser, server.url, { viewport, colorScheme });
  await enterKey(page, server.apiKey);
  for (const [name, [path, drawn]] of Object.entries(pagesOf(model, jobs, episode))) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    await openPage(page, path);
    const first = page.locator(drawn).first();
    await first.waitFor().catch(() => say(`${name}: the page has no ${drawn}`));
    await page.waitForTimeout(500);
    const file = values.docs ? `dashboard-${name}.png` : `${name}-${size}-${colorScheme}.png`;
    await page.screenshot({ path: join(out, file) });
    const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (width !== viewport.width) say(`${name} is ${width} px wide at ${viewport.width}`);
  }
  for (const fault of faults) say(fault);
  await page.context().close();
}
await browser.close();
await opened.close();

/** The first model, its jobs, and the newest episode. */
async function findRun(): Promise<{ model: string; jobs: readonly string[]; episode: string }> {
  let episode = '';
  for await (const { id, call_count: calls } of client.listEpisodes()) {
    episode = id;
    if (calls > 0) break;
  }
  for await (const { id: model } of client.listModels()) {
    const jobs: string[] = [];
    for await (const { id } of client.listTrainingJobs({ model_id: model })) jobs.unshift(id);
    return { model, jobs, episode };
  }
  throw new Error('There is no model to take pictures of.');
}

/** Other data of a server in use: a file of examples, and another model that trains on it while the pictures are taken. */
async function addData(): Promise<void> {
  const lines = Array.from({ length: 400 }, (_, i) => ({
    messages: [
      { role: 'user', content: `What is ${i % 40} + 7?` },
      { role: 'assistant', content: String((i % 40) + 7) },
    ],
  }));
  const body = lines.map((line) => JSON.stringify(line)).join('\n');
  const headers = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' };
  await fetch(`${server.url}/v1/artifacts/default/games/${DATA}/train.jsonl`, { method: 'PUT', headers, body });
  const { id: model_id } = await client.registerModel({
    project: 'games',
    name: 'adder',
    base_model: 'whetstone/starter',
  });
  const config = { batch_size: 2, learning_rate: 2e-3 };
  const training_data_url = `wandb-artifact:///default/games/${DATA}:latest`;
  await client.submitSftJob({ model_id, training_data_url, config });
  const mender = await client.registerModel({ project: 'agents', name: 'mender', base_model: 'whetstone/starter' });
  await runAgents(server.url, server.apiKey, client, mender);
}
