// Logged trajectories, read back over HTTP.
import { beforeAll, expect, test } from 'vitest';
import { deleteOldData } from '#services/jobs/data-retention';
import { silentLog } from '#base/log';
import { register } from '../../support/api/registered-model.ts';
import { send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();

interface Log {
  readonly id: string;
  readonly split: string;
  readonly step: number;
}

interface List<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
}

let model_id: string;
let logs: string;
beforeAll(async () => {
  model_id = await register(server, 'logged');
  logs = `/v1/preview/models/${model_id}/logs`;
  for (const [split, rewards] of [
    ['val', [1, 0]],
    ['test', [0.5]],
    ['val', []],
  ] as const) {
    server.clock.advance(1_000);
    const trajectories = rewards.map((reward) => ({
      messages_and_choices: [
        { role: 'user', content: `${split} \u001b[31m` },
        { role: 'assistant', content: 'yes' },
      ],
      reward,
      metadata: { split },
    }));
    const body = { split, trajectory_groups: [{ trajectories }] };
    const response = await send(server, { url: `/v1/preview/models/${model_id}/log`, body });
    expect(response.statusCode, response.body).toBe(200);
  }
});

async function get<T>(url: string): Promise<T> {
  const response = await send(server, { url });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<T>();
}

test('are listed by split and step, in pages', async () => {
  const all = await get<List<Log>>(logs);
  expect(all.data).toMatchObject([
    { split: 'val', step: 0, num_groups: 1, num_trajectories: 2, created_at: '2026-06-01T00:00:01.000Z' },
    { split: 'test', step: 0, num_groups: 1, num_trajectories: 1 },
    { split: 'val', step: 0, num_groups: 1, num_trajectories: 0 },
  ]);
  expect((await get<List<Log>>(`${logs}?split=val`)).data).toEqual([all.data[0], all.data[2]]);
  expect((await get<List<Log>>(`${logs}?split=val&step=1`)).data).toEqual([]);
  expect(await get<List<Log>>(`${logs}?limit=1&after=${all.data[0]!.id}`)).toMatchObject({
    data: [all.data[1]],
    has_more: true,
  });
  expect((await send(server, { url: `${logs}?step=-1` })).statusCode).toBe(422);
});

test('have the groups and trajectories that were sent, without advantages', async () => {
  const [first] = (await get<List<Log>>(logs)).data;
  expect((await get<List<object>>(`${logs}/${first!.id}/groups`)).data).toMatchObject([
    {
      id: '0',
      prompt: 'val \u001b[31m',
      rewards: [1, 0],
      advantages: null,
      has_signal: null,
      metrics: { reward: 0.5 },
    },
  ]);
  const page = await get<List<object>>(`${logs}/${first!.id}/groups/0/trajectories?limit=1`);
  expect(page).toMatchObject({ data: [{ reward: 1, advantage: null, metadata: { split: 'val' } }], has_more: true });
  const lines = await send(server, { url: `${logs}/${first!.id}/trajectories` });
  expect(lines.headers['content-type']).toBe('application/jsonl');
  const read = lines.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(read).toMatchObject([
    { group: 0, index: 0, reward: 1 },
    { group: 0, index: 1, reward: 0 },
  ]);
  const short = await send(server, { url: `${logs}/${first!.id}/trajectories?view=summary` });
  expect(JSON.parse(short.body.split('\n')[1]!)).toMatchObject({ group: 0, index: 1, reward: 0, advantage: null });
  expect(short.body).not.toContain('is_trained'); // logged trajectories are not trained on
});

test('of another model, and unknown ones, are a 404', async () => {
  const other = await register(server, 'not-logged');
  const [first] = (await get<List<Log>>(logs)).data;
  expect((await get<List<Log>>(`/v1/preview/models/${other}/logs`)).data).toEqual([]);
  for (const path of ['groups', 'groups/0/trajectories', 'trajectories']) {
    const url = `/v1/preview/models/${other}/logs/${first!.id}/${path}`;
    expect((await send(server, { url })).statusCode, url).toBe(404);
  }
  expect((await send(server, { url: `${logs}/${first!.id}/groups/1/trajectories` })).statusCode).toBe(404);
});

test('and the groups sent to jobs are deleted when they are old; settings, events and newer ones stay', async () => {
  const url = '/v1/preview/training-jobs';
  const job = async () => {
    const response = await send(server, { url, body: { model_id, trajectory_groups: [{ trajectories: [] }] } });
    return response.json<{ id: string }>().id;
  };
  const [old, queued] = [await job(), await job()];
  await send(server, { method: 'POST', url: `${url}/${old}/cancel` });
  server.clock.advance(10_000);
  const recent = await job();
  await send(server, { method: 'POST', url: `${url}/${recent}/cancel` });
  const { storage, blobs, clock } = server;
  const account = { entity: 'default', keyId: null };
  const before = await storage.accounts.storedBytes(account);
  await deleteOldData({ storage, blobs, clock, log: silentLog, keepMs: 5_000 });
  expect(await storage.accounts.storedBytes(account)).toBeLessThan(before);
  const gone = await send(server, { url: `${url}/${old}/groups` });
  expect(gone.statusCode).toBe(404);
  expect(gone.body).toContain('has been deleted');
  expect((await get<List<object>>(`${url}/${old}/events`)).data).toHaveLength(1);
  for (const id of [queued, recent]) expect((await get<List<object>>(`${url}/${id}/groups`)).data).toHaveLength(1);
  expect((await get<List<Log>>(logs)).data).toEqual([]);
  expect((await blobs.list(`logs/${model_id}`)).length).toBe(0);
  await send(server, { method: 'POST', url: `${url}/${queued}/cancel` });
});
