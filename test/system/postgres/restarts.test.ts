// A Postgres that restarts five times under a whole server, while clients write and read and jobs train: at worst requests get a
// 503, the server's process stays the same, and afterwards everything acknowledged is there.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { ApiError, type Client, type TrainingEvent } from '#client/client';
import { createServerProcess } from '../../support/crash/server-process.ts';
import { skipWithout } from '../../support/skipping.ts';
import { startPostgres } from '../../support/postgres/postgres-server.ts';

const RESTARTS = ['immediate', 'fast', 'immediate', 'fast', 'immediate'] as const;
/** How long the database stays up in between, so that requests and a job are in progress. */
const UP_MS = 1_000;
const TRIES_MAX = 300;
const HANG_MS = 120_000; // for busy machines; nothing is measured

const postgres = await startPostgres();
const data = await mkdtemp(join(tmpdir(), 'whetstone-restarts-'));
afterAll(async () => {
  await postgres?.stop();
  await rm(data, { recursive: true, force: true });
});

describe('a Postgres that restarts', skipWithout('POSTGRES', postgres !== null), () => {
  test('costs requests a 503 at worst; acknowledged writes persist, and jobs end', async () => {
    const server = await createServerProcess(data, { WHETSTONE_DATABASE_URL: await postgres!.createDatabase() });
    await server.start();
    const { client } = server;
    const startedAs = server.pid();
    try {
      const model = await register(client, 'trained');
      const trajectory_groups = await groups(client);
      const refusals: ApiError[] = [];
      const retrying = <T>(ask: () => Promise<T>) => tryAgain(ask, refusals);
      let over = false;

      const registered: string[] = [];
      const registering = (async () => {
        for (let n = 0; !over; n++) registered.push((await retrying(() => register(client, `m${n}`))).id);
      })();
      const asking = (async () => {
        let answered = 0;
        for (; !over; answered++) await retrying(() => ask(client, answered));
        return answered;
      })();
      const jobs: string[] = [];
      const training = (async () => {
        while (!over) {
          const idempotencyKey = `job-${jobs.length}`;
          const request = {
            model_id: model.id,
            trajectory_groups,
            experimental_config: { packed_sequence_length: 32 },
          };
          const { id } = await retrying(() => client.submitTrainingJob(request, { idempotencyKey }));
          jobs.push(id);
          await client.follow(id, { deadlineMs: HANG_MS });
        }
      })();

      const startMs = performance.now();
      let downMs = 0;
      const restarting = (async () => {
        for (const how of RESTARTS) {
          await delay(UP_MS);
          const beganMs = performance.now();
          await postgres!.restart(how);
          downMs += performance.now() - beganMs;
        }
        over = true;
      })();
      const answered = (await Promise.all([asking, registering, training, restarting]))[0];

      expect(server.pid()).toBe(startedAs);
      expect(answered).toBeGreaterThan(0);
      expect(refusals.length).toBeGreaterThan(0); // otherwise no request met a restart
      for (const { status, code, message } of refusals) {
        expect({ status, code, message }).toMatchObject({ status: 503, code: 'storage_unavailable' });
      }
      const models = (await collect(client.listModels({ project: 'p' }))).map(({ id }) => id);
      expect(models).toEqual([model.id, ...registered]);
      expect(await collect(client.listTrainingJobs({ model_id: model.id }))).toMatchObject(
        jobs.map((id, i) => ({ id, status: 'succeeded', step: i + 1 })),
      );
      for (const id of jobs) expectWhole(await collect(client.listEvents(id)));
      const seconds = (ms: number) => (ms / 1_000).toFixed(1);
      console.log(
        `${RESTARTS.length} restarts in ${seconds(performance.now() - startMs)} s, down for ${seconds(downMs)} s: ${answered} chats answered, ` +
          `${registered.length} models and ${jobs.length} jobs made, ${refusals.length} requests refused with a 503 and tried again; all of it is there, each once.`,
      );
      expect(await server.stop()).toBe(0);
    } finally {
      await server.kill('server');
    }
  }, 300_000);
});

/** Any error other than "try again" fails the test, including a lost connection to the server. */
async function tryAgain<T>(ask: () => Promise<T>, refusals: ApiError[]): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      const isBusy = error instanceof ApiError && (error.status === 503 || error.code === 'idempotency_in_progress');
      if (!isBusy || tries === TRIES_MAX) throw error;
      if (error.status === 503) refusals.push(error);
      await delay(100);
    }
  }
}

const register = (client: Client, name: string) =>
  client.registerModel({ project: 'p', name, base_model: 'whetstone/starter' });

const ask = (client: Client, n: number) =>
  client.chat({
    model: 'wandb-artifact:///default/p/trained',
    messages: [{ role: 'user', content: `What is ${n % 90} + 12?` }],
    temperature: 0,
    max_tokens: 8,
  });

async function groups(client: Client) {
  return Promise.all(
    Array.from({ length: 4 }, async (_, g) => {
      const messages = [{ role: 'user', content: `What is ${10 + g} + 20?` }];
      const sampling = { n: 4, temperature: 1, seed: g, max_tokens: 8 };
      const { choices } = await client.chat({ model: 'whetstone/starter', messages, ...sampling });
      return {
        trajectories: choices.map((choice, i) => ({ messages_and_choices: [...messages, choice], reward: i % 3 })),
      };
    }),
  );
}

/** No event is missing or duplicated. */
function expectWhole(events: readonly TrainingEvent[]): void {
  const types = events.map(({ type }) => type);
  const steps = types.length - 2;
  expect(types).toEqual(['training_started', ...new Array<string>(steps).fill('gradient_step'), 'training_ended']);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
}

async function collect<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of pages) all.push(item);
  return all;
}
