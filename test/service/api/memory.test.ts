// A server with a memory limit: models that do not fit are refused before they are loaded, those that fit stay within it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { logLineForPeople } from '#base/log-lines';
import { createClient } from '#client/client';
import { readServerConfig } from '../../../src/config/server-config.ts';
import { startServer, type RunningServer } from '../../../src/main.ts';
import { createRecordingLog } from '../../support/serving/recording-log.ts';
import { writeTinyChatModel } from '../../support/api/tiny-chat-model.ts';

const KEY = 'k'.repeat(40);

let root: string;
let model: string;
let server: RunningServer | null = null;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'whetstone-memory-'));
  model = await writeTinyChatModel();
});
afterEach(async () => {
  await server?.close();
  server = null;
  await rm(root, { recursive: true, force: true });
  await rm(model, { recursive: true, force: true });
});

const log = createRecordingLog();
async function start(flags: Record<string, string>) {
  const config = { port: '0', data: join(root, 'data'), model: [model], ...flags };
  server = await startServer(readServerConfig(config, { WHETSTONE_API_KEY: KEY }), log);
  return createClient({ baseUrl: `${server.url}/v1/`, apiKey: KEY });
}

test('models that do not fit are refused with the numbers and with advice, before their weights are read', async () => {
  await writeFile(join(model, 'model.safetensors'), 'no weights');
  await expect(start({ memory: '0.6' })).rejects.toThrow(
    /would take at least 0\.\d\d GB of memory \(processes of the server 0\.25 GB, processes 0\.40 GB, weights 0\.00 GB, .*\), and 0\.60 GB is available \(--memory, .*It fits with --role api,serve, which does not train/,
  );
  await expect(start({ memory: '2', kvCache: '1.5' })).rejects.toThrow(
    /kv cache 1\.50 GB.*It fits with a smaller --kv-cache/,
  );
  await expect(start({ memory: '2' })).rejects.toMatchObject({ code: 'bad_model_files' });
});

test('a server with little memory starts with small caches, says so, and keeps to --max-model-len', async () => {
  const client = await start({ memory: '0.7', maxModelLen: '100' });
  const planned = log.lines.findLast(({ event }) => event === 'memory.planned')!;
  expect(planned.fields).toMatchObject({
    memoryMb: 700,
    parts: expect.arrayContaining([{ part: 'processes', model: 'server', mb: 250 }]) as object,
  });
  const shown = logLineForPeople(JSON.stringify({ level: 30, time: 0, event: 'memory.planned', ...planned.fields }));
  expect(shown).toMatch(
    /memory\.planned  availableMb=\d+  memoryMb=700  plannedMb=\d+\n +part +model +mb\n +processes +server +250\n/,
  );
  const [base] = await client.listBaseModels();
  const ask = (max_tokens: number) =>
    client.chat({ model: base!, messages: [{ role: 'user', content: 'Go' }], max_tokens });
  expect((await ask(4)).choices).toHaveLength(1);
  await expect(ask(200)).rejects.toThrow(/maximum context length is 100 tokens/);
});

test('a job needs memory for rows in addition to its adapter: a large adapter that leaves no room is refused with the numbers, a small one trains', async () => {
  const client = await start({ model: 'starter', memory: '2', trainingMemory: '0.32' });
  const content = Array.from({ length: 20 }, (_, i) => ({ token: `token_id:${100 + i}`, logprob: -1 }));
  const choice = { finish_reason: 'stop', message: { role: 'assistant', content: 'x' }, logprobs: { content } };
  const trajectories = [0, 1].map((reward) => ({
    messages_and_choices: [{ role: 'user', content: 'Go' }, choice],
    reward,
  }));
  const train = async (name: string, r: number) => {
    const { id: model_id } = await client.registerModel({
      project: 'p',
      name,
      base_model: 'whetstone/starter',
      lora: { r },
    });
    return client.train({ model_id, trajectory_groups: [{ trajectories }] }, { deadlineMs: 60_000 });
  };
  await expect(train('wide', 256)).rejects.toThrow(
    /needs about 0\.\d GB, and the trainer has 0\.3 GB for it, enough for 0 tokens \(--training-memory/,
  );
  expect(await train('narrow', 8)).toMatchObject({ status: 'succeeded' });
}, 120_000);
