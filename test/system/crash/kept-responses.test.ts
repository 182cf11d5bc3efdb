// Stored answers of /v1/responses, and those that wait in the background, across a kill of the whole server: stored answers are
// read back unchanged and can be continued; waiting requests are answered by the next server.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';

const WAIT_MS = 120_000; // for busy machines; nothing is measured
const model = 'whetstone/starter';

let data: string;
let server: ServerProcess;
let client: OpenAI;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'whetstone-kept-'));
  server = await createServerProcess(data);
  await server.start();
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 5 });
}, WAIT_MS);
afterAll(async () => {
  await server.kill('server').catch(() => {});
  await rm(data, { recursive: true, force: true });
});

test('kept answers outlive their server, and those that waited are answered', { timeout: 300_000 }, async () => {
  const first = await client.responses.create({ model, input: 'What is the capital of France?', temperature: 0 });
  const second = await client.responses.create({ model, input: 'And of Spain?', previous_response_id: first.id });
  const waiting = await Promise.all(
    Array.from({ length: 4 }, () =>
      client.responses.create({ model, input: 'Count to ten.', background: true, max_output_tokens: 200 }),
    ),
  );
  const inputs = async (id: string) => (await client.responses.inputItems.list(id)).data;
  const asked = await inputs(second.id);
  await server.kill('server');
  await server.start();

  const { output_text: _, ...kept } = first;
  expect(await client.responses.retrieve(first.id)).toMatchObject(kept);
  expect(await inputs(second.id)).toEqual(asked);
  expect(asked.length).toBeGreaterThan(2); // including the earlier conversation
  const third = await client.responses.create({ model, input: 'And of Italy?', previous_response_id: second.id });
  expect(third.status).toBe('completed');
  for (const { id } of waiting) {
    const status = async () => (await client.responses.retrieve(id)).status;
    await expect.poll(status, { timeout: WAIT_MS, interval: 200 }).toMatch(/^(completed|incomplete)$/);
    expect((await client.responses.retrieve(id)).output_text).not.toBe('');
  }
});
