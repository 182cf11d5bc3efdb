// A whole server with its blobs in an S3-compatible store: it trains, serves, forks and downloads from there, and continues
// after kill -9 with only its database.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pullArtifact, pushArtifact } from '#client/artifact-files';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';
import { openObjectStore, type ObjectStore } from '../../support/object-store.ts';

const MODEL = 'wandb-artifact:///default/p/m';

let directory: string;
let store: ObjectStore;
let server: ServerProcess;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'whetstone-s3-server-'));
  store = await openObjectStore(join(directory, 'objects'));
  server = await createServerProcess(join(directory, 'data'), store.environment('team'));
  await server.start();
});
afterAll(async () => {
  await server.stop();
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

test('trains, serves, forks and downloads, before and after kill -9', async () => {
  const { client } = server;
  const model = await client.registerModel({ project: 'p', name: 'm', base_model: 'whetstone/starter' });
  const messages = [{ role: 'user', content: 'What is 31 + 12?' }];
  const { choices } = await client.chat({ model: MODEL, messages, n: 8, temperature: 1, seed: 1, max_tokens: 8 });
  const trajectories = choices.map((choice, i) => ({ messages_and_choices: [...messages, choice], reward: i % 3 }));
  const rl = await client.submitTrainingJob({ model_id: model.id, trajectory_groups: [{ trajectories }] });
  expect(await client.follow(rl.id, { deadlineMs: 60_000 })).toMatchObject({ status: 'succeeded', step: 1 });

  const examples = join(directory, 'train.jsonl');
  await writeFile(examples, JSON.stringify({ messages: [...messages, { role: 'assistant', content: '43' }] }));
  const { uri } = await pushArtifact(client, '~/p/data', examples);
  const sft = await client.submitSftJob({ model_id: model.id, training_data_url: uri });
  expect(await client.follow(sft.id, { deadlineMs: 60_000 })).toMatchObject({ status: 'succeeded', step: 2 });

  const greedy = { messages, temperature: 0, max_tokens: 8 };
  const before = await client.chat({ model: `${MODEL}:step2`, ...greedy });
  await server.kill('server');
  await server.start();
  const after = await client.chat({ model: `${MODEL}:step2`, ...greedy });
  expect(after.choices[0]!.message).toEqual(before.choices[0]!.message);
  await client.registerModel({
    project: 'p',
    name: 'fork',
    base_model: 'whetstone/starter',
    from_checkpoint: 'default/p/m@2',
  });
  await pullArtifact(client, 'default/p/fork:step0', join(directory, 'fork'));
  expect(await readdir(join(directory, 'fork'))).toContain('adapter_model.safetensors');
  expect(await readdir(join(directory, 'data'))).not.toContain('blobs');
}, 120_000);
