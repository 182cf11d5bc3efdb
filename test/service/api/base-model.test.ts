// A base model without a chat template: what works without one, and what the operator's template adds.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { pushArtifact } from '#client/artifact-files';
import { createClient } from '#client/client';
import { readServerConfig } from '../../../src/config/server-config.ts';
import { startServer, type RunningServer } from '../../../src/main.ts';
import { writeTinyChatModel } from '../../support/api/tiny-chat-model.ts';

const KEY = 'k'.repeat(40);
const TEMPLATE = `{%- for message in messages %}{{ message.role }}: {{ message.content }}
{% endfor %}{%- if add_generation_prompt %}assistant: {% endif %}`;

let root: string;
let model: string;
let server: RunningServer | null;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'whetstone-base-model-'));
  model = await writeTinyChatModel();
  await rm(join(model, 'chat_template.jinja'));
});
afterEach(async () => {
  await server?.close();
  await rm(root, { recursive: true, force: true });
  await rm(model, { recursive: true, force: true });
});

async function start(flags: { chatTemplate?: string } = {}) {
  const config = readServerConfig(
    { port: '0', data: join(root, 'data'), model: [model], ...flags },
    { WHETSTONE_API_KEY: KEY },
  );
  server = await startServer(config, silentLog);
  const client = createClient({ baseUrl: `${server.url}/v1/`, apiKey: KEY });
  const [base_model] = await client.listBaseModels();
  const { id } = await client.registerModel({ project: 'p', name: 'm', base_model: base_model! });
  return { client, id, url: server.url };
}

const ASK = { role: 'user' as const, content: 'Go' };

test('without a template, the error for chat says what to do; completions answer, and RL with token ids trains', async () => {
  const { client, id, url } = await start();
  await expect(client.chat({ model: 'default/p/m', messages: [ASK] })).rejects.toThrow(
    /has no chat template, so it cannot answer conversations\. Send text or token ids to \/v1\/completions, .*--chat-template FILE/,
  );
  const answer = await fetch(`${url}/v1/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'default/p/m', prompt: 'Go', n: 2, max_tokens: 4, return_token_ids: true, seed: 1 }),
  });
  const { choices } = (await answer.json()) as {
    choices: { text: string; token_ids: number[]; prompt_token_ids: number[] }[];
  };
  expect(choices).toHaveLength(2);
  const trajectories = choices.map(({ text, token_ids, prompt_token_ids }, i) => ({
    messages_and_choices: [
      ASK,
      {
        index: 0,
        finish_reason: 'length',
        message: { role: 'assistant' as const, content: text },
        token_ids,
        prompt_token_ids,
        logprobs: {
          content: token_ids.map((token) => ({ token: `token_id:${token}`, logprob: -5, top_logprobs: [] })),
        },
      },
    ],
    reward: i,
  }));
  const job = await client.submitTrainingJob({ model_id: id, trajectory_groups: [{ trajectories }] });
  await client.follow(job.id, { deadlineMs: 60_000 });
  expect(await client.getTrainingJob(job.id)).toMatchObject({ status: 'succeeded', error_message: null });
});

test('with --chat-template it chats, and learns from conversations', async () => {
  const chatTemplate = join(root, 'template.jinja');
  await writeFile(chatTemplate, TEMPLATE);
  const { client, id } = await start({ chatTemplate });
  const { choices } = await client.chat({ model: 'default/p/m', messages: [ASK], max_tokens: 4 });
  expect(choices).toHaveLength(1);
  const path = join(root, 'lines.jsonl');
  const line = JSON.stringify({ messages: [ASK, { role: 'assistant', content: 'Gone.' }] });
  await writeFile(path, `${line}\n`.repeat(4));
  const { uri } = await pushArtifact(client, 'default/p/lines', path, { type: 'dataset' });
  const job = await client.submitSftJob({ model_id: id, training_data_url: uri });
  await client.follow(job.id, { deadlineMs: 60_000 });
  expect(await client.getTrainingJob(job.id)).toMatchObject({ status: 'succeeded', error_message: null });
});

test('a missing or invalid template stops the start with an error that names it', async () => {
  await expect(start({ chatTemplate: join(root, 'none.jinja') })).rejects.toThrow(
    /Cannot read the chat template .*none\.jinja: there is no such file/,
  );
  await writeFile(join(root, 'bad.jinja'), '{% if %}');
  await expect(start({ chatTemplate: join(root, 'bad.jinja') })).rejects.toThrow(/chat template .* is not valid/);
});
