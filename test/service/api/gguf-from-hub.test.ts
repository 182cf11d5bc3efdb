// A GGUF model from a Hub (test/support/a-hub.ts), on a server and on a worker: it answers as the same local file does.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { silentLog } from '#base/log';
import { createClient } from '#client/client';
import { exportGgufModel } from '#model-files/gguf/export-gguf';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import { readServerConfig } from '../../../src/config/server-config.ts';
import { startServer } from '../../../src/main.ts';
import { runWorker } from '../../../src/server/run-worker.ts';
import { openHub, type OpenHub } from '../../support/a-hub.ts';

const KEY = 'k'.repeat(40);
const ON_HUB = 'owner/tiny:Q8_0';

let root: string;
let file: string;
let opened: OpenHub;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'whetstone-gguf-from-hub-'));
  file = join(root, 'mine-Q8_0.gguf');
  await exportGgufModel({ base: STARTER_DIRECTORY, adapter: null, out: file, name: 'tiny' }, 'Q8_0');
  opened = await openHub({ 'tiny-Q8_0.gguf': await readFile(file) });
});
afterAll(async () => {
  await opened.close();
  await rm(root, { recursive: true, force: true });
});

const hubOf = (name: string) => ({ HF_ENDPOINT: opened.url, HF_HOME: join(root, name) });

async function start(name: string, flags: { model?: string[]; workerModel?: string[] }) {
  const variables = { WHETSTONE_API_KEY: KEY, ...hubOf(name) };
  const config = readServerConfig({ port: '0', data: join(root, `${name}-data`), ...flags }, variables);
  const server = await startServer(config, silentLog);
  return { server, client: createClient({ baseUrl: `${server.url}/v1/`, apiKey: KEY }) };
}

async function answerOf({ chat }: ReturnType<typeof createClient>, model: string) {
  const messages = [{ role: 'user' as const, content: 'What is 23 + 14?' }];
  const { choices } = await chat({ model, messages, temperature: 0, max_tokens: 8, logprobs: true });
  return choices[0]!.logprobs!.content!;
}

test('on a server and on a worker it samples the tokens of the file, with their log-probabilities', async () => {
  const here = await start('here', { model: [ON_HUB, file] });
  expect(await here.client.listBaseModels()).toEqual([ON_HUB, 'mine-Q8_0']);
  const [fromHub, fromFile] = [await answerOf(here.client, ON_HUB), await answerOf(here.client, 'mine-Q8_0')];
  await here.server.close();
  expect(fromFile.length).toBeGreaterThan(1);
  expect(fromHub).toEqual(fromFile);

  const { server, client } = await start('there', { workerModel: [ON_HUB] });
  for (const [name, value] of Object.entries(hubOf('worker'))) vi.stubEnv(name, value);
  const stopping = new AbortController();
  const roles = ['sample'] as const;
  const worker = runWorker({ url: server.url, key: KEY, model: ON_HUB, roles, name: 'w' }, stopping.signal);
  await vi.waitFor(async () => expect(await answerOf(client, ON_HUB)).toEqual(fromFile), { timeout: 120_000 });
  stopping.abort();
  await worker;
  await server.close();
}, 180_000);
