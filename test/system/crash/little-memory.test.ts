// A server with little memory is asked for more than it has: each request is answered, waits in a queue or is refused by name. No
// process ends or is replaced, and together they stay within --memory.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { pushArtifact } from '#client/artifact-files';
import { ApiError } from '#client/client';
import { readDecoderConfig } from '#model-files/decoder-config';
import { writeFreshAdapter } from '#model-files/fresh-adapter';
import { residentBytesOf } from '../../../bench/process-memory.ts';
import { writeTinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';

/** 8 kB of cache per token, 12 MB per adapter of rank 64 that is used in addition to others. */
const SIZES = { num_hidden_layers: 8, hidden_size: 64, head_dim: 64, max_position_embeddings: 32_768 };
const MEMORY_GB = 0.8;
const ADAPTERS = Array.from({ length: 12 }, (_, i) => `adapter-${i}`);
const WORK_MS = 300_000;

vi.setConfig({ testTimeout: WORK_MS, hookTimeout: WORK_MS });

let root: string;
let model: string;
let server: ServerProcess;
let base: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'whetstone-little-memory-'));
  model = await writeTinyChatModel(SIZES);
  base = basename(model);
  const config = await readDecoderConfig(model);
  for (const [seed, name] of ADAPTERS.entries()) {
    await mkdir(join(root, name));
    await writeFreshAdapter(join(root, name), config, { rank: 64, alpha: 64, seed }, base);
  }
  const adapters = ADAPTERS.flatMap((name) => ['--adapter', join(root, name)]);
  const flags = ['--model', model, '--memory', String(MEMORY_GB), ...adapters];
  server = await createServerProcess(join(root, 'data'), {}, flags);
  await server.start();
});
afterAll(async () => {
  await server.stop();
  await rm(root, { recursive: true, force: true });
  await rm(model, { recursive: true, force: true });
});

const ask = (name: string, settings: Readonly<Record<string, unknown>>) =>
  server.client.chat({ model: name, messages: [{ role: 'user', content: 'Go' }], ...settings });

async function expectAlive(): Promise<void> {
  expect((await ask(base, { max_tokens: 1 })).choices).toHaveLength(1);
  expect(server.logged('engine.exited')).toEqual([]);
  const { server: own, inference, training } = residentBytesOf(server.pid());
  expect(own! + inference! + training!).toBeLessThan(MEMORY_GB * 1e9);
}

test('a prompt longer than the cache is refused, and so is an answer that would be', async () => {
  const refused = { status: 400, message: expect.stringContaining('maximum context length is') as string };
  await expect(ask(base, { max_tokens: 32_000 })).rejects.toMatchObject(refused);
  const prompt = { messages: [{ role: 'user', content: 'x '.repeat(30_000) }] };
  await expect(ask(base, { ...prompt, max_tokens: 1 })).rejects.toMatchObject(refused);
  await expectAlive();
});

test('more answers than the cache holds wait for each other, more than the queue holds are refused', async () => {
  const n = 100;
  const { choices } = await ask(base, { n, max_tokens: 150, ignore_eos: true });
  expect(choices).toHaveLength(n);
  await expect(ask(base, { n: 1_000_000 })).rejects.toBeInstanceOf(ApiError);
  await expectAlive();
});

test('of adapters that do not fit together some wait: their requests get a 429 with the numbers', async () => {
  const answers = await Promise.allSettled(
    ADAPTERS.map((name) => ask(`adapters/${name}`, { max_tokens: 300, ignore_eos: true })),
  );
  const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as ApiError] : []));
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(ADAPTERS.length);
  for (const error of refused) {
    expect(error).toMatchObject({ status: 429 });
    expect(error.message).toMatch(/This adapter needs 0\.\d\d GB .* for adapters \(WHETSTONE_ADAPTERS_MB\)/);
  }
  for (const name of ADAPTERS) await ask(`adapters/${name}`, { max_tokens: 1 });
  await expectAlive();
});

test('a row that training has no memory for ends a job with the numbers, and is left out of examples', async () => {
  const { id: model_id } = await server.client.registerModel({ project: 'p', name: 'm', base_model: base });
  const question = { role: 'user', content: 'Go' };
  const answer = { role: 'assistant', content: 'x '.repeat(12_000) };
  const content = Array.from({ length: 12_000 }, (_, i) => ({ token: `token_id:${i % 300}`, logprob: -1 }));
  const choice = { index: 0, finish_reason: 'stop', message: answer, logprobs: { content } };
  const trajectories = [0, 1].map((reward) => ({ messages_and_choices: [question, choice], reward }));
  const rewards = { model_id, trajectory_groups: [{ trajectories }] };
  await expect(server.client.train(rewards, { deadlineMs: WORK_MS })).rejects.toThrow(
    /needs about \d+\.\d GB, and the trainer has 0\.\d GB for it, .*--training-memory/,
  );
  const path = join(root, 'long.jsonl');
  await writeFile(path, JSON.stringify({ messages: [question, answer] }));
  const { uri } = await pushArtifact(server.client, 'default/p/long', path, { type: 'dataset' });
  const { id } = await server.client.submitSftJob({ model_id, training_data_url: uri });
  expect(await server.client.follow(id, { deadlineMs: WORK_MS })).toMatchObject({ skipped: { too_long: 1 } });
  await expectAlive();
});

test('a second model that does not fit in addition to the first is refused before it is loaded', async () => {
  const other = await writeTinyChatModel(SIZES);
  const flags = ['--model', model, '--model', other, '--memory', String(MEMORY_GB)];
  const second = await createServerProcess(join(root, 'second'), {}, flags);
  await expect(second.start()).rejects.toThrow(
    /would take at least .* of memory .*, and 0\.80 GB is available \(--memory/s,
  );
  await rm(other, { recursive: true, force: true });
  await expectAlive();
});
