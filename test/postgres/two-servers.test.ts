// Two servers on one Postgres and one S3-compatible store: what one makes the other serves, and when one dies in the middle of a
// job the other ends it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client, TrainingEvent } from '#client/client';
import { createServerProcess, type ServerProcess } from '../crash/server-process.ts';
import { startPostgres } from './postgres-server.ts';

const MODEL = 'wandb-artifact:///default/p/m';
const TAKEOVER_MS_MAX = 30_000;

const postgres = await startPostgres();
let directory: string;
let store: S3rver;
let servers: ServerProcess[];

beforeAll(async () => {
  if (!postgres) return;
  directory = await mkdtemp(join(tmpdir(), 'whetstone-two-'));
  const objects = join(directory, 'objects');
  store = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: objects, configureBuckets: [{ name: 'b', configs: [] }] }); // prettier-ignore
  const { port } = await store.run();
  const env = {
    WHETSTONE_DATABASE_URL: await postgres.createDatabase(),
    WHETSTONE_BLOBS_URL: `s3://b?endpoint=http://127.0.0.1:${port}&region=us-east-1`,
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
  };
  servers = await Promise.all(['one', 'two'].map((name) => createServerProcess(join(directory, name), env)));
});
afterAll(async () => {
  if (!postgres) return;
  for (const server of servers) await server.kill('server').catch(() => {});
  await store.close();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
});

async function groups(client: Client) {
  return Promise.all(
    Array.from({ length: 12 }, async (_, g) => {
      const messages = [{ role: 'user', content: `What is ${10 + g} + 20?` }];
      const sampling = { n: 8, temperature: 1, seed: g, max_tokens: 8 };
      const { choices } = await client.chat({ model: MODEL, messages, ...sampling });
      return {
        trajectories: choices.map((choice, i) => ({ messages_and_choices: [...messages, choice], reward: i % 3 })),
      };
    }),
  );
}

describe.skipIf(!postgres)('two servers', () => {
  test('share models and checkpoints; a killed one’s job is ended by the other within 30 s', async () => {
    const [one, two] = servers as [ServerProcess, ServerProcess];
    await one.start(); // alone: the job will be its
    const model = await one.client.registerModel({ project: 'p', name: 'm', base_model: 'whetstone/starter' });
    const job = {
      model_id: model.id,
      trajectory_groups: await groups(one.client),
      experimental_config: { packed_sequence_length: 32 },
    };
    const { id } = await one.client.submitTrainingJob(job);
    while ((await one.client.getTrainingJob(id)).progress === 0);
    await one.kill('server');
    const killedMs = Date.now();
    await two.start();
    await two.client.waitForJob(id, { deadlineMs: 60_000 });
    expect(Date.now() - killedMs).toBeLessThan(TAKEOVER_MS_MAX);

    await one.start();
    const events: TrainingEvent[] = [];
    for await (const event of one.client.listEvents(id)) events.push(event);
    const types = events.map(({ type }) => type);
    const steps = types.length - 2;
    expect(steps).toBeGreaterThan(5);
    expect(types).toEqual(['training_started', ...new Array<string>(steps).fill('gradient_step'), 'training_ended']);
    const request = { messages: [{ role: 'user', content: 'What is 31 + 12?' }], temperature: 0, max_tokens: 8 };
    const answers = await Promise.all(
      [one, two].map(({ client }) => client.chat({ model: `${MODEL}:step1`, ...request })),
    );
    expect(answers[0]!.choices).toEqual(answers[1]!.choices);
    expect(await Promise.all([one.stop(), two.stop()])).toEqual([0, 0]);
  }, 120_000);
});
