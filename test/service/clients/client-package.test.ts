// The client package, packed and installed, against a server on the starter model. The example of its README runs unchanged; a
// browser loads the same files.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VERSION } from '../../../src/config/version.ts';
import { openBrowser } from '../../support/dashboard/browser.ts';
import { missing } from '../../support/skipping.ts';
import { installPackedClient, runReadmeLoop, type PackedClient } from './packed-client.ts';
import { KEY, openStarterServer, type StarterServer } from '../../support/clients/starter-server.ts';

const TSC = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const run = promisify(execFile);

let client: PackedClient;
let server: StarterServer;
beforeAll(async () => {
  client = await installPackedClient();
  server = await openStarterServer();
}, 300_000);
afterAll(async () => {
  await server.close();
  await client.remove();
});

/** The modules that `dist/client.js` loads, by name. */
async function modulesOf(entry: string, found = new Map<string, string>()): Promise<Map<string, string>> {
  if (found.has(entry)) return found;
  const text = await readFile(join(client.installed, 'dist', entry), 'utf8');
  found.set(entry, text);
  for (const [, from] of text.matchAll(/^(?:import|export) .*?from ['"]([^'"]+)['"];/gms)) {
    expect(from).toMatch(/^\.\//); // no package, no module of Node
    await modulesOf(posix.join(posix.dirname(entry), from!), found);
  }
  return found;
}

test('it is a few kB, depends on nothing, and has the version of the API', async () => {
  const manifest = JSON.parse(await readFile(join(client.installed, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  expect(manifest).not.toHaveProperty('dependencies');
  expect(manifest['version']).toBe(VERSION);
  expect(await (await fetch(`${server.baseUrl.replace(/\/v1$/, '')}/version`)).json()).toEqual({ version: VERSION });
  const modules = await modulesOf('client.js');
  expect(modules.size).toBeGreaterThan(5);
  expect(gzipSync([...modules.values()].join('')).length).toBeLessThan(14_000);
});

test('the example of its README runs unchanged, and the reward rises', { timeout: 300_000 }, async () => {
  const env = { ...process.env, WHETSTONE_URL: server.baseUrl, WHETSTONE_API_KEY: KEY, NODE_OPTIONS: '' };
  await runReadmeLoop(client.project, [process.execPath], env);
});

test('its types need no other package and nothing of Node', { timeout: 300_000 }, async () => {
  const program = `import { createClient, gather, type TrainingJob } from '@whetstone/client';
const client = createClient({ baseUrl: location.origin, apiKey: 'k' });
const { groups } = await gather(['Hello'], async (content, { signal }) => {
  const { choices } = await client.chat({ messages: [{ role: 'user', content }], n: 2 }, { signal });
  return choices.map((choice) => ({ messages_and_choices: [choice], reward: choice.message.content?.length ?? 0 }));
});
export const job: TrainingJob = await client.train({ model_id: 'm', trajectory_groups: groups });
`;
  await writeFile(join(client.project, 'page.ts'), program);
  const options = ['--strict', '--noEmit', '--target', 'es2023', '--module', 'nodenext'];
  await run(process.execPath, [TSC, ...options, '--lib', 'es2023,dom,dom.asynciterable', 'page.ts'], {
    cwd: client.project,
  });
});

test('it chats and trains in a browser', { timeout: 300_000 }, async ({ skip }) => {
  const browser = await openBrowser();
  if (!browser) return skip(missing('CHROMIUM'));
  try {
    const page = await browser.newPage();
    const modules = await modulesOf('client.js');
    const origin = server.baseUrl.replace(/\/v1$/, '');
    await page.route(`${origin}/client/*`, (route) => {
      const module = modules.get(posix.basename(new URL(route.request().url()).pathname));
      const [contentType, body] = module === undefined ? ['text/html', ''] : ['text/javascript', module];
      return route.fulfill({ contentType, body });
    });
    await page.goto(`${origin}/client/page.html`); // the dashboard's own page runs only its own scripts
    const status = await page.evaluate<string>(`(async () => {
      const { createClient, gather } = await import('/client/client.js');
      const client = createClient({ baseUrl: location.origin, apiKey: '${KEY}' });
      const model = await client.registerModel({ project: 'demo', name: 'page', base_model: 'whetstone/starter' });
      const { groups } = await gather(['Hello!'], async (content) => {
        const { choices } = await client.chat({ messages: [{ role: 'user', content }], n: 2, temperature: 1, max_tokens: 4 });
        return choices.map((choice, i) => ({ messages_and_choices: [{ role: 'user', content }, choice], reward: i }));
      });
      const job = await client.train({ model_id: model.id, trajectory_groups: groups });
      return job.status;
    })()`);
    expect(status).toBe('succeeded');
  } finally {
    await browser.close();
  }
});
