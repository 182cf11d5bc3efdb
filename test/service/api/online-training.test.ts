// Online training over HTTP and a real store: which jobs it makes, when, and what stops it. Jobs are ended by hand instead of trained.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import { UNSETTLED_MAX } from '#domain/online-training';
import { createOnlineTrainer, type OnlineTrainer } from '#services/episodes/online-trainer';
import { register } from '../../support/api/registered-model.ts';
import {
  asOwner,
  chat,
  faults,
  matching,
  openTestServer,
  send,
  type TestServer,
} from '../../support/api/test-server.ts';

interface Progress {
  status: string;
  waiting_for: string;
  complete_groups: number;
  missing_groups: number;
  running_job_id: string | null;
  last_job_id: string | null;
  job_count: number;
  open_groups: { name: string; open: number; rewarded: number }[];
}

let server: TestServer;
let trainer: OnlineTrainer;
let modelId: string;

const trainerOf = ({ storage, services, jobEvents, clock }: TestServer) =>
  createOnlineTrainer({
    ...{ storage, trainingJobs: services.trainingJobs, jobEvents, clock, log: silentLog },
    exclusive: true,
  });

beforeEach(async () => {
  server = await openTestServer();
  modelId = await register(server, 'agent');
  trainer = trainerOf(server);
  await trainer.start();
});
afterEach(async () => {
  await trainer.stop();
  await server.close();
});

const path = () => `/v1/preview/models/${modelId}/online-training`;
const set = (body: object, headers = asOwner) => send(server, { method: 'PUT', url: path(), body, headers });
const read = async () => (await send(server, { url: path() })).json<Progress>();
const jobs = () => server.storage.jobs.list({ entity: 'default', modelId }, { after: null, limit: 100 });

/** Two rewarded episodes of one call each. */
async function play(group: string, rewards: readonly (number | null)[] = [1, 0], headers = {}): Promise<void> {
  for (const [i, reward] of rewards.entries()) {
    const name = `${group}-${i}`;
    const url = `/e/${group}/${name}/v1/chat/completions`;
    const asked = await send(server, { url, headers, body: chat({ model: 'p/agent', max_tokens: 2 }) });
    expect(asked.statusCode, asked.body).toBe(200);
    if (reward !== null) await rewardIt(name, reward);
  }
}
async function rewardIt(name: string, reward: number): Promise<void> {
  const given = await send(server, {
    url: `/v1/preview/episodes/${name}/reward?model_id=${modelId}`,
    body: { reward },
  });
  expect(given.statusCode, given.body).toBe(200);
}

/** The job that it makes next, once it has. */
async function nextJob(count: number) {
  await vi.waitFor(async () => expect((await jobs()).rows).toHaveLength(count), { timeout: 10_000 });
  return (await jobs()).rows.at(-1)!;
}

/** Ends the model's oldest unfinished job, as the job runner does. */
async function end(status: 'succeeded' | 'failed', errorMessage: string | null = null): Promise<void> {
  const { storage, clock } = server;
  const job = (await storage.jobs.claim('test', clock.now(), 60_000, null))!;
  const step = (await storage.jobs.assignStep(job.id, job.attempt))!;
  const [latest, endedAtMs] = [(await storage.checkpoints.findLatest(job.modelId))!, clock.now()];
  const data = status === 'failed' ? { error_message: errorMessage! } : {};
  const type = status === 'failed' ? ('training_failed' as const) : ('training_ended' as const);
  const done = await storage.jobs.finish(job.id, job.attempt, {
    ...{ status, errorMessage, endedAtMs },
    event: {
      id: createId(),
      jobId: job.id,
      ordinal: await storage.events.count(job.id),
      type,
      data,
      createdAtMs: endedAtMs,
    },
    checkpoint: status === 'succeeded' ? { ...latest, id: createId(), step } : null,
  });
  expect(done).toBe(true);
  clock.advance(2_000);
  server.jobEvents.notify(job.id);
}

const groupsOf = async (jobId: string) => {
  const { rows } = await server.storage.episodes.list(
    { entity: 'default', modelId, status: 'trained' },
    { after: null, limit: 100 },
  );
  return [...new Set(rows.filter(({ trainedBy }) => trainedBy === jobId).map(({ groupName }) => groupName))];
};

test('a job is made of the oldest complete groups, one after another, until the step is reached', async () => {
  await play('a');
  const answer = await set({ groups_per_step: 2, until_step: 2, experimental_config: { learning_rate: 0.001 } });
  expect([answer.statusCode, answer.json()]).toMatchObject([
    200,
    { object: 'online_training', status: 'active', complete_groups: 1, missing_groups: 1, step: 0, until_step: 2 },
  ]);
  await play('b', [1, null]);
  expect(await read()).toMatchObject({
    missing_groups: 1,
    open_groups: [{ name: 'b', open: 1, rewarded: 1 }],
    waiting_for: matching(/Step 1 has 1 of 2 complete groups/),
  });
  expect((await jobs()).rows).toEqual([]);

  await rewardIt('b-1', 0);
  const first = await nextJob(1);
  expect(await groupsOf(first.id)).toEqual(['a', 'b']);
  for (const group of ['c', 'd', 'e']) await play(group);
  expect(await read()).toMatchObject({
    running_job_id: first.id,
    waiting_for: matching(new RegExp(`${first.id} is queued`)),
  });
  expect((await jobs()).rows).toHaveLength(1);

  await end('succeeded');
  const second = await nextJob(2);
  expect(await groupsOf(second.id)).toEqual(['c', 'd']);
  await end('succeeded');
  await vi.waitFor(async () => expect(await read()).toMatchObject({ status: 'reached', job_count: 2 }));
  await play('f');
  expect((await jobs()).rows).toHaveLength(2);

  const model = async () => (await send(server, { url: `/v1/preview/models/${modelId}` })).json<object>();
  expect(await model()).toMatchObject({ trained_online: true });
  expect((await send(server, { method: 'DELETE', url: path() })).json()).toMatchObject({ deleted: true });
  expect((await send(server, { url: path() })).statusCode).toBe(404);
  expect(await model()).toMatchObject({ trained_online: false });
});

test('a job that fails stops it, says why, and gives the episodes back; setting it again goes on', async () => {
  await play('a');
  await set({ groups_per_step: 1 });
  const failed = await nextJob(1);
  await end('failed', 'the loss is not finite');
  await vi.waitFor(async () =>
    expect(await read()).toMatchObject({
      status: 'paused',
      waiting_for: `Paused: Its job ${failed.id} failed: the loss is not finite. Set it again to go on.`,
    }),
  );
  expect((await jobs()).rows).toHaveLength(1);
  await set({ groups_per_step: 1 });
  expect(await groupsOf((await nextJob(2)).id)).toEqual(['a']);
});

test('one job at a time makes the next step: also when it is set again, ended and begun anew, or a job was submitted by hand', async () => {
  await play('a');
  await set({ groups_per_step: 1 });
  const first = await nextJob(1);
  const running = { running_job_id: first.id, waiting_for: matching(new RegExp(`${first.id} is queued`)) };
  expect((await set({ groups_per_step: 1, until_step: 2 })).json()).toMatchObject(running);
  await play('b');
  await send(server, { method: 'DELETE', url: path() });
  expect((await set({ groups_per_step: 1, until_step: 2 })).json()).toMatchObject({ ...running, complete_groups: 1 });
  const byHand = { model_id: modelId, trajectory_groups: [] };
  await send(server, { url: '/v1/preview/training-jobs', body: byHand });
  await end('succeeded');
  await vi.waitFor(async () => expect(await read()).toMatchObject({ step: 1, job_count: 0 }));
  expect((await jobs()).rows).toHaveLength(2);
  await end('succeeded');
  await vi.waitFor(async () => expect(await read()).toMatchObject({ status: 'reached', step: 2 }));
  expect((await jobs()).rows).toHaveLength(2);
});

describe('a server that dies', () => {
  test('between a job and its note makes no second one', async () => {
    const { onlineTraining } = server.storage;
    const settle = vi.spyOn(onlineTraining, 'settle').mockRejectedValueOnce(new Error('killed'));
    await play('a');
    await play('b');
    await set({ groups_per_step: 1 });
    const job = await nextJob(1);
    await vi.waitFor(() => expect(settle).toHaveBeenCalled());
    settle.mockRestore();
    await trainer.stop();
    trainer = trainerOf(server);
    await trainer.start();
    await vi.waitFor(async () => expect(await read()).toMatchObject({ last_job_id: job.id, job_count: 1 }));
    expect((await jobs()).rows).toHaveLength(1);
  });

  test('each time it makes the job does so a few times', async () => {
    const { onlineTraining } = server.storage;
    await trainer.stop();
    await play('a');
    await set({ groups_per_step: 1 });
    for (let i = 0; i < UNSETTLED_MAX; i++) {
      expect(await onlineTraining.claim('dead', server.clock.now(), 1_000)).toMatchObject({ modelId });
      server.clock.advance(1_001);
    }
    trainer = trainerOf(server);
    await trainer.start();
    await vi.waitFor(async () =>
      expect(await read()).toMatchObject({ status: 'paused', waiting_for: matching(/3 times/) }),
    );
    expect((await jobs()).rows).toEqual([]);
  });
});

test('episodes that are too old do not complete a group', async () => {
  await play('old');
  for (const step of [1, 2]) {
    const latest = (await server.storage.checkpoints.findLatest(modelId))!;
    await server.services.trainingJobs.submitRl(
      { entity: 'default', keyId: 'bootstrap', scopes: ['train'], limits: {} },
      { groups: [], config: {}, warnings: [] },
      modelId,
      createId(),
    );
    await end('succeeded');
    expect((await server.storage.checkpoints.findLatest(modelId))!.step).toBe(latest.step + 1);
    if (step === 1) await play('mixed');
  }
  const before = (await jobs()).rows.length;
  const { complete_groups: complete } = (await set({ groups_per_step: 2, max_staleness: 1 })).json<Progress>();
  expect(complete).toBe(1);
  await play('new');
  const job = await nextJob(before + 1);
  expect(await groupsOf(job.id)).toEqual(['mixed', 'new']);
  await end('succeeded');
  await play('open', [1, null]);
  expect((await set({ groups_per_step: 1, max_staleness: 0 })).json()).toMatchObject({
    open_groups: [{ name: 'open' }],
    stale_groups: [{ name: 'old', open: 0, rewarded: 2 }],
    waiting_for: matching(/0 of 1 complete group.* 1 group with enough rewards will not be trained: .* 0 steps before/),
  });
});

test('groups in which no call is trained make no step', async () => {
  await play('judges', [1, 0], { 'x-whetstone-train': 'false' });
  for (const [i, reward] of [1, 0].entries()) {
    const begun = { model_id: modelId, name: `crashed-${i}`, group: 'crashed' };
    await send(server, { url: '/v1/preview/episodes', body: begun });
    await rewardIt(begun.name, reward);
  }
  await set({ groups_per_step: 1 });
  expect(await read()).toMatchObject({
    waiting_for: matching(/no open one, and a call that is trained/),
    open_groups: [
      { name: 'judges', open: 0, rewarded: 2 },
      { name: 'crashed', open: 0, rewarded: 2 },
    ],
  });
  await play('a');
  expect(await groupsOf((await nextJob(1)).id)).toEqual(['a']);
});

test('a step that trained nothing is told of', async () => {
  await set({ groups_per_step: 1 });
  await play('equal', [1, 1]);
  const { id: jobId } = await nextJob(1);
  const data = { num_gradient_steps: 0, warnings: ['All rewards are equal.'] };
  const started = { id: createId(), jobId, ordinal: 0, type: 'training_started' as const, data, createdAtMs: 0 };
  await server.storage.events.append(started);
  await end('succeeded');
  await vi.waitFor(async () =>
    expect((await read()).waiting_for).toContain(
      `Its last job ${jobId} trained nothing: the warnings of that job say why.`,
    ),
  );
});

test('a reward that is replaced while its job is being made is trained by the next try', async () => {
  await play('a');
  const { episodes } = server.storage;
  const calls = vi.spyOn(episodes, 'calls').mockImplementationOnce(async (...asked) => {
    calls.mockRestore();
    await rewardIt('a-0', 0.25);
    return episodes.calls(...asked);
  });
  await set({ groups_per_step: 1 });
  const job = await nextJob(1);
  const { id } = (await episodes.findOfModel(modelId, 'a-0'))!;
  expect(await episodes.find(id)).toMatchObject({ reward: 0.25, trainedBy: job.id });
});

test('a revoked key makes no more jobs', async () => {
  const key = (await send(server, { url: '/v1/keys', body: { name: 'k', scopes: ['train', 'read', 'chat'] } })).json<{
    id: string;
    secret: string;
  }>();
  await set({ groups_per_step: 1 }, { authorization: `Bearer ${key.secret}` });
  await server.apiKeys.revoke(key.id, null);
  await play('a');
  await vi.waitFor(async () =>
    expect(await read()).toMatchObject({ status: 'paused', waiting_for: matching(/key .* was revoked/) }),
  );
  expect((await jobs()).rows).toEqual([]);
});

test('what cannot be is refused', async () => {
  expect(faults(await set({ group_size_min: 1 }))).toEqual(['body.group_size_min greater_than_equal']);
  expect(faults(await set({ groups_per_step: 0, max_staleness: -1 }))).toEqual([
    'body.groups_per_step greater_than_equal',
    'body.max_staleness greater_than_equal',
  ]);
  expect(faults(await set({ experimental_config: { learning_rate: 'fast' } }))).toEqual([
    'body.experimental_config.learning_rate float_parsing',
  ]);
  const twice = await set({ max_staleness: 1, experimental_config: { max_staleness: 2 } });
  expect([twice.statusCode, twice.body]).toEqual([422, matching(/contradicts experimental_config.max_staleness 2/)]);
  const evaluation = { prompts: [], samples: 1, max_tokens: 4 };
  const unasked = await set({ evaluation });
  expect([unasked.statusCode, unasked.body]).toEqual([400, matching(/no prompt to answer/)]);
  const future = await set({ experimental_config: { kl_penalty_coef: 0.1, kl_penalty_reference_step: 99 } });
  expect([future.statusCode, future.body]).toEqual([404, matching(/step 99 of the model, does not exist/)]);
  expect((await send(server, { url: path() })).statusCode).toBe(404);
  await set({ groups_per_step: 1 });
  await play('a');
  await nextJob(1);
  await end('succeeded');
  const late = await set({ until_step: 1 });
  expect([late.statusCode, late.body]).toEqual([400, matching(/has step 1 already/)]);
  const url = `/v1/preview/models/${createId()}/online-training`;
  expect((await send(server, { method: 'PUT', url, body: {} })).statusCode).toBe(404);
});
