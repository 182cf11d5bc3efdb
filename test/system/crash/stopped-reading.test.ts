// A large job that is cancelled, or whose server is asked to stop, while its data is being read: neither waits for the reading,
// which never ends here because its process was stopped. Nothing is lost: after the next start the job continues.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { TrainingEvent } from '#client/client';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';

const WAIT_MS = 120_000; // for busy machines; nothing is measured

let data: string;
let server: ServerProcess;
let modelId: string;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'whetstone-reading-'));
  server = await createServerProcess(data);
  await server.start();
  const model = { project: 'p', name: 'm', base_model: 'whetstone/starter' };
  modelId = (await server.client.registerModel(model)).id;
}, WAIT_MS);
afterAll(async () => {
  await server.kill('server').catch(() => {});
  await rm(data, { recursive: true, force: true });
});

/** Conversations of many turns with shared prefixes: slow to read, quick to train. Returns the job once its reading has stalled. */
async function submitAndFreeze(): Promise<string> {
  const said = [
    { role: 'user', content: 'Go on.' },
    { role: 'assistant', content: 'And on.' },
  ];
  const messages_and_choices = Array.from({ length: 200 }, () => said).flat();
  const trajectories = [1, 0].map((reward) => ({ messages_and_choices, reward }));
  const { id } = await server.client.submitTrainingJob({
    model_id: modelId,
    trajectory_groups: [{ trajectories }],
    experimental_config: { allow_training_without_logprobs: true },
  });
  await vi.waitUntil(() => server.freeze('reader'), { timeout: WAIT_MS, interval: 1 });
  expect(await server.client.getTrainingJob(id)).toMatchObject({ status: 'running' });
  expect(await eventTypes(id)).toEqual([]);
  return id;
}

async function eventTypes(jobId: string): Promise<string[]> {
  const events: TrainingEvent[] = [];
  for await (const event of server.client.listEvents(jobId)) events.push(event);
  return events.map(({ type }) => type);
}

test('a job that is cancelled while it is read ends at once', async () => {
  const first = await submitAndFreeze();
  await server.client.cancelTrainingJob(first);
  await expect(server.client.follow(first, { deadlineMs: WAIT_MS })).rejects.toThrow('cancelled');
  expect(await server.client.getTrainingJob(first)).toMatchObject({ status: 'cancelled' });
  expect(await eventTypes(first)).toEqual(['training_failed']);
}, 300_000);

test('a server that is asked to stop while it reads a job stops, and its next start reads it again', async () => {
  const id = await submitAndFreeze();
  expect(await server.stop()).toBe(0);
  expect(server.logged('server.step_cut')).toEqual([]);
  await server.start();
  await server.client.follow(id, { deadlineMs: WAIT_MS });
  const types = await eventTypes(id);
  const steps = types.length - 2;
  expect(types).toEqual(['training_started', ...new Array<string>(steps).fill('gradient_step'), 'training_ended']);
}, 300_000);
