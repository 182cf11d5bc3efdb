// An adapter on the output head of the starter model, whose head is tied to its embedding, from registration to export:
// training on examples, then on rewards, and answers that show the effect.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { createClient } from '#client/client';
import { pullArtifact, pushArtifact } from '#client/artifact-files';
import { linearLayers, loraBName } from '#model-files/lora';
import { readDecoderConfig } from '#model-files/decoder-config';
import { readPeftDirectory } from '#model-files/peft-directory';
import { readServerConfig } from '../../../src/config/server-config.ts';
import { startServer, type RunningServer } from '../../../src/main.ts';
import { STARTER_DIRECTORY } from '../../../src/config/starter-directory.ts';

const KEY = 'k'.repeat(40);
const DEADLINE_MS = 60_000;
const question = { role: 'user', content: 'What is 2 + 3?' };

let root: string;
let server: RunningServer;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'whetstone-head-'));
  server = await startServer(
    readServerConfig({ port: '0', data: join(root, 'data') }, { WHETSTONE_API_KEY: KEY }),
    silentLog,
  );
});
afterAll(async () => {
  await server.close();
  await rm(root, { recursive: true, force: true });
});

test('examples and rewards train the head too, answers use it, and the export is a PEFT directory with both', async () => {
  const client = createClient({ baseUrl: `${server.url}/v1/`, apiKey: KEY });
  const lora = { r: 4, target_modules: ['q_proj', 'lm_head'] };
  const asked = { project: 'p', name: 'head', base_model: 'whetstone/starter', lora };
  const { id } = await client.registerModel(asked);
  const answer = async (name: string) => {
    const body = { model: name, messages: [question], max_tokens: 8, temperature: 0, logprobs: true };
    const { choices } = await client.chat(body);
    return choices[0]!.message.content;
  };
  expect(await answer('p/head')).toBe(await answer('whetstone/starter')); // B is zero

  const taught = JSON.stringify({ messages: [question, { role: 'assistant', content: 'blue' }] });
  await writeFile(join(root, 'train.jsonl'), new Array<string>(16).fill(taught).join('\n'));
  const { uri } = await pushArtifact(client, 'default/p/examples', join(root, 'train.jsonl'));
  const config = { batch_size: 4, epochs: 8, learning_rate: 1e-2 };
  const sft = await client.submitSftJob({ model_id: id, training_data_url: uri, config });
  await client.follow(sft.id, { deadlineMs: DEADLINE_MS });
  expect(await answer('p/head')).toBe('blue');

  const sampled = await client.chat({
    model: 'p/head',
    messages: [question],
    n: 4,
    temperature: 1,
    max_tokens: 4,
    seed: 1,
  });
  const trajectories = sampled.choices.map((choice, i) => ({
    messages_and_choices: [question, choice],
    reward: i % 2,
  }));
  const experimental_config = { learning_rate: 1e-3, packed_sequence_length: 512 };
  const rl = await client.submitTrainingJob({
    model_id: id,
    trajectory_groups: [{ trajectories }],
    experimental_config,
  });
  expect(await client.follow(rl.id, { deadlineMs: DEADLINE_MS })).toMatchObject({ step: 2 });

  const layers = linearLayers(await readDecoderConfig(STARTER_DIRECTORY));
  const onHead = async (step: number) => {
    const out = join(root, `step${step}`);
    await pullArtifact(client, `default/p/head:step${step}`, out);
    const { targets, tensors } = await readPeftDirectory(out, layers);
    expect(targets).toEqual(['q_proj', 'lm_head']);
    return tensors.get(loraBName('lm_head'))!;
  };
  const [fresh, first, second] = [await onHead(0), await onHead(1), await onHead(2)];
  expect(fresh.every((value) => value === 0)).toBe(true);
  expect(first.some((value) => value !== 0)).toBe(true);
  expect(second).not.toEqual(first);
}, 180_000);
