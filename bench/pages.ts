// `npm run bench -- pages`: how long after opening an address a page shows its content, on a server with 1,000 models, 10,000 jobs, a model of
// 1,009 steps, and what full-lists.ts adds. Each page is opened in a fresh browser context: nothing is cached. Goal: a median below 1 s on an
// idle two-core machine, and no page wider than its window. Exits with 1 if a page misses it.
// `-- --out DIRECTORY [page …]` also takes pictures at three widths, light and dark.
import { mkdir } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openBrowser } from '../test/support/dashboard/browser.ts';
import { LISTS, LONG_EPISODE, RUN } from './full-lists.ts';
import { openFullServer, SIZES } from './full-server.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string' }, rounds: { type: 'string', default: '1' } },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const WIDTHS = [1_400, 1_024, 390];
/** A page that needs longer is broken. */
const WAIT_MS = 20_000;
const GOAL_MS = 1_000;
const SCHEMES = ['light', 'dark'] as const;

const browser = await openBrowser();
if (!browser) process.exit(1);
const full = await openFullServer();
const { server, longest, job } = full;
if (values.out !== undefined) await mkdir(values.out, { recursive: true });

/** By name: the address, and an element that is there once the page shows what it is for. */
const PAGES: Readonly<Record<string, readonly [string, string]>> = {
  home: ['/', 'main table tbody tr'],
  jobs: ['/jobs', 'main table tbody tr'],
  model: [`/models/${longest}`, '.chart canvas'],
  'model-compared': [`/models/${longest}?with=m-2&smooth=0.6&x=time`, '.chart canvas'],
  'model-table': [`/models/${longest}`, '[aria-label=Checkpoints] tbody tr'],
  job: [`/jobs/${job}`, '.chart canvas'],
  'job-of-one-step': ['/jobs/j-1', '.tile + .tile'],
  trajectories: [`/models/${longest}/trajectories`, '.step-choice'],
  keys: ['/keys', 'main table tbody tr'],
  data: ['/data', 'main table tbody tr'],
  'data-by-size': ['/data?sort-artifacts=-Size', 'main table tbody tr'],
  episodes: ['/episodes', 'main table tbody tr'],
  'episodes-filtered': [`/episodes?model=${longest}&status=rewarded&min=0.5`, 'main table tbody tr'],
  episode: [`/episodes/${LONG_EPISODE}`, 'main article'],
  runs: ['/runs', 'main table tbody tr'],
  'run-project': [`/runs/~/${RUN.project}`, 'main table tbody tr'],
  run: [`/runs/~/${RUN.project}/${RUN.name}`, '.chart canvas'],
  answers: [`/models/${longest}/answers?step=${LISTS.evaluations}`, '.virtual [role=listitem]'],
  workers: ['/workers', 'main table tbody tr'],
};

say(
  [...Object.entries(SIZES), ...Object.entries(LISTS)].map(([what, count]) => `${what} ${count}`).join(', ') +
    `; ${availableParallelism()} × ${cpus()[0]!.model}`,
);
say(`load before: ${loadavg()[0]!.toFixed(1)}`);
const missed: string[] = [];
for (const [name, [path, drawn]] of Object.entries(PAGES)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const times: number[] = [];
  for (const width of WIDTHS)
    for (const colorScheme of SCHEMES)
      for (let round = 0; round < Number(values.rounds); round++) {
        const viewport = { width, height: width < 500 ? 844 : 900 };
        const page = await (await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })).newPage();
        page.setDefaultTimeout(60_000);
        await page.addInitScript(`sessionStorage.setItem('whetstone.key', ${JSON.stringify(server.apiKey)})`);
        await page.goto(`${server.url}/#${path}`);
        // In the page, at its next frame: what the browser tells us later would count too.
        times.push(
          Number(
            await page.evaluate(`new Promise((resolve, reject) => {
              const look = () =>
                document.querySelector(${JSON.stringify(drawn)}) ? requestAnimationFrame(() => resolve(performance.now()))
                : performance.now() > ${WAIT_MS} ? reject(new Error('${name} shows: ' + document.querySelector('main')?.innerText))
                : setTimeout(look, 4);
              look();
            })`),
          ),
        );
        const shown = Number(await page.evaluate('document.documentElement.scrollWidth'));
        if (shown > width) missed.push(`${name} is ${shown} px wide at ${width}`);
        if (values.out !== undefined) {
          await page.waitForTimeout(1_000);
          await page.screenshot({ path: join(values.out, `${name}-${width}-${colorScheme}.png`) });
        }
        await page.context().close();
      }
  times.sort((a, b) => a - b);
  const ms = (value: number) => `${Math.round(value)} ms`.padStart(8);
  const median = times[Math.floor(times.length / 2)]!;
  if (median > GOAL_MS) missed.push(`${name} takes ${Math.round(median)} ms, more than ${GOAL_MS}`);
  say(`${name.padEnd(17)} median${ms(median)}, slowest${ms(times.at(-1)!)}`);
}
say(`load after: ${loadavg()[0]!.toFixed(1)}`);
await browser.close();
await full.close();
for (const each of missed) say(each);
process.exit(missed.length > 0 ? 1 : 0);
