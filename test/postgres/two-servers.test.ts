// Servers on one Postgres and one S3-compatible store: what one makes the others serve, when one dies in the middle of a job
// another ends it, and each may do a part of the work only.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ApiError, Client, TrainingEvent } from '#client/client';
import { ROLES } from '#domain/role';
import { createServerProcess, type ServerProcess } from '../crash/server-process.ts';
import { startPostgres } from './postgres-server.ts';

const MODEL = 'wandb-artifact:///default/p/m';
const TAKEOVER_MS_MAX = 30_000;
const QUESTION = { messages: [{ role: 'user', content: 'What is 31 + 12?' }], temperature: 0, max_tokens: 8 };

const postgres = await startPostgres();
let directory: string;
let store: S3rver;
let shared: Readonly<Record<string, string>>;
const started: ServerProcess[] = [];

beforeAll(async () => {
  if (!postgres) return;
  directory = await mkdtemp(join(tmpdir(), 'whetstone-two-'));
  const objects = join(directory, 'objects');
  store = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: objects, configureBuckets: [{ name: 'b', configs: [] }] }); // prettier-ignore
  const { port } = await store.run();
  shared = {
    WHETSTONE_BLOBS_URL: `s3://b?endpoint=http://127.0.0.1:${port}&region=us-east-1`,
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
  };
});
afterEach(async () => {
  for (const server of started.splice(0)) await server.kill('server').catch(() => {});
});
afterAll(async () => {
  if (!postgres) return;
  await store.close();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Not started yet. */
async function together(
  names: readonly string[],
  envOf: (name: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<ServerProcess[]> {
  const database = { WHETSTONE_DATABASE_URL: await postgres!.createDatabase() };
  const servers = await Promise.all(
    names.map((name) => createServerProcess(join(directory, name), { ...shared, ...database, ...envOf(name) })),
  );
  started.push(...servers);
  return servers;
}

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
    const [one, two] = (await together(['one', 'two'])) as [ServerProcess, ServerProcess];
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
    const ask = (model: string) => Promise.all([one, two].map(({ client }) => client.chat({ model, ...QUESTION })));
    for (const model of [`${MODEL}:step1`, MODEL, `${MODEL}:latest`]) {
      const answers = await ask(model);
      expect(answers[0]!.choices).toEqual(answers[1]!.choices);
      for (const answer of answers) expect(answer.model).toMatch(/:step1$/);
    }
    const second = await one.client.submitTrainingJob({ ...job, trajectory_groups: job.trajectory_groups.slice(0, 2) });
    await two.client.waitForJob(second.id, { deadlineMs: 60_000 });
    for (const answer of await ask(MODEL)) expect(answer.model).toMatch(/:step2$/); // whoever trained it
    expect(await Promise.all([one.stop(), two.stop()])).toEqual([0, 0]);
  }, 120_000);

  test('divide the work: one takes the job, one trains it, one chats with its checkpoint', async () => {
    const servers = await together(ROLES, (role) => ({ WHETSTONE_ROLE: role }));
    const [api, serve, train] = servers as [ServerProcess, ServerProcess, ServerProcess];
    await api.start(); // first, so that one of them makes the tables
    await Promise.all([serve.start(), train.start()]);
    expect(servers.map((server) => server.engines())).toEqual([[], ['inference'], ['training']]);

    const model = await api.client.registerModel({ project: 'p', name: 'm', base_model: 'whetstone/starter' });
    const before = await serve.client.chat({ model: MODEL, ...QUESTION });
    expect(before.model).toMatch(/:step0$/);
    const trajectory_groups = await groups(serve.client);
    const { id } = await api.client.submitTrainingJob({
      model_id: model.id,
      trajectory_groups,
      experimental_config: { learning_rate: 2e-3 },
    });
    await api.client.waitForJob(id, { deadlineMs: 60_000 });
    const after = await serve.client.chat({ model: MODEL, ...QUESTION });
    expect(after.model).toMatch(/:step1$/);

    const chat = { model: MODEL, ...QUESTION };
    for (const { client } of [api, train]) await expect(client.chat(chat)).rejects.toMatchObject(elsewhere('serve'));
    for (const { client } of [serve, train])
      await expect(client.getTrainingJob(id)).rejects.toMatchObject(elsewhere('api'));
    for (const { client, url } of servers) {
      expect((await client.listCallableModels()).some((each) => each.id.endsWith('/m:step1'))).toBe(true);
      expect((await fetch(`${url}/v1/system-check`)).status).toBe(200);
    }
    expect(await Promise.all(servers.map((server) => server.stop()))).toEqual([0, 0, 0]);
  }, 120_000);
});

const elsewhere = (role: string): Partial<ApiError> => ({
  status: 503,
  code: 'other_role',
  message: expect.stringContaining(`a server with the role ${role}`) as string,
});
