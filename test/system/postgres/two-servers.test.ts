// Servers on one Postgres and one S3-compatible store: each serves what another made, one that dies in the middle of a job is
// replaced by another, and each may have only some of the roles. Online training makes one step of each group, whichever server
// recorded, rewarded and trained it.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ApiError, Client, TrainingEvent } from '#client/client';
import { ROLES } from '#domain/role';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';
import { openObjectStore, type ObjectStore } from '../../support/object-store.ts';
import { skipWithout } from '../../support/skipping.ts';
import { startPostgres } from '../../support/postgres/postgres-server.ts';

const MODEL = 'wandb-artifact:///default/p/m';
const LEASE_MS = 20_000; // of job-runner.ts: how long a dead server keeps its job
const HANG_MS = 240_000; // for busy machines; nothing is measured
const QUESTION = { messages: [{ role: 'user', content: 'What is 31 + 12?' }], temperature: 0, max_tokens: 8 };

const postgres = await startPostgres();
let directory: string;
let databaseUrl: string;
let store: ObjectStore;
const started: ServerProcess[] = [];

beforeAll(async () => {
  if (!postgres) return;
  directory = await mkdtemp(join(tmpdir(), 'whetstone-two-'));
  store = await openObjectStore(join(directory, 'objects'));
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

/** Not started. */
async function together(
  names: readonly string[],
  envOf: (name: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<ServerProcess[]> {
  databaseUrl = await postgres!.createDatabase();
  const shared = {
    WHETSTONE_DATABASE_URL: databaseUrl,
    ...store.environment(randomUUID()),
  };
  const servers = await Promise.all(
    names.map((name) => createServerProcess(join(directory, name), { ...shared, ...envOf(name) })),
  );
  started.push(...servers);
  return servers;
}

async function readJob(id: string): Promise<{ attempt: number; leaseUntilMs: number | null }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const text = 'select attempt, lease_until_ms from training_jobs where id = $1';
    const { rows } = await client.query<{ attempt: number; lease_until_ms: string | null }>(text, [id]);
    const { attempt, lease_until_ms: lease } = rows[0]!;
    return { attempt, leaseUntilMs: lease === null ? null : Number(lease) };
  } finally {
    await client.end();
  }
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

describe('two servers', skipWithout('POSTGRES', postgres !== null), () => {
  test('share models and checkpoints; a killed one’s job is ended by the other when its lease lapses', async () => {
    const [one, two] = (await together(['one', 'two'])) as [ServerProcess, ServerProcess];
    await one.start(); // alone, so that it gets the job
    const model = await one.client.registerModel({ project: 'p', name: 'm', base_model: 'whetstone/starter' });
    const job = {
      model_id: model.id,
      trajectory_groups: await groups(one.client),
      experimental_config: { packed_sequence_length: 32 },
    };
    const { id } = await one.client.submitTrainingJob(job);
    let trained = 0;
    while ((trained = (await one.client.getTrainingJob(id)).progress) === 0);
    await one.kill('server');
    const killedMs = performance.now();
    const left = await readJob(id);
    expect(left.attempt).toBe(1);
    expect(left.leaseUntilMs! - Date.now()).toBeLessThanOrEqual(LEASE_MS);
    await two.start();
    while ((await readJob(id)).attempt === 1) await delay(100);
    const claimedMs = performance.now();
    await two.client.follow(id, { deadlineMs: HANG_MS });
    const endedMs = performance.now();
    expect(await readJob(id)).toEqual({ attempt: 2, leaseUntilMs: null });

    await one.start();
    const events: TrainingEvent[] = [];
    for await (const event of one.client.listEvents(id)) events.push(event);
    const types = events.map(({ type }) => type);
    const steps = types.length - 2;
    expect(steps).toBeGreaterThan(5);
    const seconds = (ms: number) => (ms / 1_000).toFixed(1);
    console.log(
      `A server was killed behind gradient step ${Math.round(trained * steps)} of ${steps}: another one took the job over ${seconds(claimedMs - killedMs)} s later ` +
        `(its lease lasted up to ${LEASE_MS / 1_000} s) and ended it in ${seconds(endedMs - claimedMs)} s; ${events.length} events, each once.`,
    );
    expect(types).toEqual(['training_started', ...new Array<string>(steps).fill('gradient_step'), 'training_ended']);
    const ask = (model: string) => Promise.all([one, two].map(({ client }) => client.chat({ model, ...QUESTION })));
    for (const model of [`${MODEL}:step1`, MODEL, `${MODEL}:latest`]) {
      const answers = await ask(model);
      expect(answers[0]!.choices).toEqual(answers[1]!.choices);
      for (const answer of answers) expect(answer.model).toMatch(/:step1$/);
    }
    const second = await one.client.submitTrainingJob({
      ...job,
      trajectory_groups: job.trajectory_groups.slice(0, 2),
    });
    await two.client.follow(second.id, { deadlineMs: HANG_MS });
    for (const answer of await ask(MODEL)) expect(answer.model).toMatch(/:step2$/); // whichever server trained it
    expect(await Promise.all([one.stop(), two.stop()])).toEqual([0, 0]);
  }, 480_000);

  test('train online together: each complete group makes one step, also when a server dies', async () => {
    const [one, two] = (await together(['one', 'two'])) as [ServerProcess, ServerProcess];
    await one.start(); // first, so that one of them creates the tables
    await two.start();
    const { id: model_id } = await two.client.registerModel({
      project: 'p',
      name: 'm',
      base_model: 'whetstone/starter',
    });
    const experimental_config = { learning_rate: 1e-4 };
    await one.client.setOnlineTraining(model_id, { groups_per_step: 1, experimental_config });
    const playGroup = async (group: string, ...order: [ServerProcess, ServerProcess]) => {
      for (const reward of [0, 1])
        await playEpisode(order, { model: 'p/m', name: `${group}-${reward}`, group }, reward);
    };
    await playGroup('a', one, two);
    await playGroup('b', two, one);
    await playGroup('c', one, two);
    const jobCount = async () => (await two.client.getOnlineTraining(model_id)).job_count;
    await expect.poll(jobCount, { timeout: HANG_MS, interval: 10 }).toBeGreaterThan(0);
    await one.kill('server'); // it may hold the model, its job, or neither
    await playGroup('d', two, two);
    const stepsAt = async ({ client }: ServerProcess) => {
      const steps: number[] = [];
      for await (const { step } of client.listCheckpoints(model_id)) steps.push(step);
      return steps.toSorted((a, b) => a - b);
    };
    await expect.poll(() => stepsAt(two), { timeout: HANG_MS, interval: 500 }).toEqual([0, 1, 2, 3, 4]);
    await one.start();
    expect(await stepsAt(one)).toEqual([0, 1, 2, 3, 4]);
    const trainedBy = new Map<string | null, string[]>();
    for await (const { group, status, trained_by: job } of one.client.listEpisodes({ model_id })) {
      expect(status).toBe('trained');
      trainedBy.set(job, [...(trainedBy.get(job) ?? []), group!]);
    }
    expect([...trainedBy.values()].toSorted()).toEqual(['a', 'b', 'c', 'd'].map((group) => [group, group]));
    await expect.poll(() => one.client.getOnlineTraining(model_id)).toMatchObject({ status: 'active', job_count: 4 });
    expect(await Promise.all([one.stop(), two.stop()])).toEqual([0, 0]);
  }, 480_000);

  test('divide the work: one takes the job, one trains it, one chats with its checkpoint and evaluates it', async () => {
    const servers = await together(ROLES, (role) => ({ WHETSTONE_ROLE: role }));
    const [api, serve, train] = servers as [ServerProcess, ServerProcess, ServerProcess];
    await api.start(); // first, so that one of them creates the tables
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
      evaluation: { prompts: [{ messages: QUESTION.messages }], samples: 2, max_tokens: 8, temperature: 1, seed: 3 },
    });
    await api.client.follow(id, { deadlineMs: HANG_MS });
    const after = await serve.client.chat({ model: MODEL, ...QUESTION });
    expect(after.model).toMatch(/:step1$/);
    const evaluated = async () => (await api.client.getTrainingJob(id)).evaluation;
    await vi.waitFor(async () => expect(await evaluated()).toMatchObject({ status: 'succeeded' }), HANG_MS);
    const asked = { ...QUESTION, model: `${MODEL}:step1`, n: 2, temperature: 1, seed: 3 };
    const { choices } = await serve.client.chat(asked);
    for await (const { answers } of api.client.listEvaluationAnswers(id))
      expect(answers!.map(({ message }) => message.content)).toEqual(choices.map(({ message }) => message.content));

    const chat = { model: MODEL, ...QUESTION };
    for (const { client } of [api, train]) await expect(client.chat(chat)).rejects.toMatchObject(elsewhere('serve'));
    for (const { client } of [serve, train])
      await expect(client.getTrainingJob(id)).rejects.toMatchObject(elsewhere('api'));
    for (const { client, url } of servers) {
      expect((await client.listCallableModels('p/m')).some((each) => each.id.endsWith('/m:step1'))).toBe(true);
      expect((await fetch(`${url}/v1/system-check`)).status).toBe(200);
    }
    expect(await Promise.all(servers.map((server) => server.stop()))).toEqual([0, 0, 0]);
  }, 480_000);
});

/** One call: asked at one server, rewarded at another. */
async function playEpisode(
  [asked, rewarded]: readonly [ServerProcess, ServerProcess],
  options: { readonly model: string; readonly name: string; readonly group: string },
  reward: number,
): Promise<void> {
  const { id, baseUrl } = await asked.client.episode(options);
  const headers = { authorization: `Bearer ${asked.apiKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ ...QUESTION, temperature: 1, model: options.model });
  const answer = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body });
  expect(answer.status, await answer.text()).toBe(200);
  expect(await rewarded.client.rewardEpisode(id, { reward })).toMatchObject({ status: 'rewarded', call_count: 1 });
}

const elsewhere = (role: string): Partial<ApiError> => ({
  status: 503,
  code: 'other_role',
  message: expect.stringContaining(`a server with the role ${role}`) as string,
});
