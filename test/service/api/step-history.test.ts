// The history of a model over its steps, over HTTP. Jobs are not run here: events are written as the job runner writes them.
import { beforeAll, expect, test } from 'vitest';
import { createId } from '#base/ids';
import { register } from '../../support/api/registered-model.ts';
import { send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();

interface Step {
  readonly id: string;
  readonly step: number | null;
  readonly metrics: Readonly<Record<string, number>>;
}

interface List {
  readonly data: readonly Step[];
  readonly has_more: boolean;
}

let model_id: string;
let url: string;

async function trainStep(step: number, losses: readonly number[]): Promise<void> {
  const { jobs, events } = server.storage;
  const id = createId();
  await jobs.create({
    id,
    type: 'rl',
    modelId: model_id,
    entity: 'default',
    keyId: 'k',
    bodyBlob: `jobs/${id}/body`,
    createdAtMs: step,
  });
  const { attempt } = (await jobs.claim('w', server.clock.now(), 1_000, null))!;
  await jobs.assignStep(id, attempt);
  await jobs.updateProgress(id, attempt, { startedAtMs: 1_000, skipped: { equal_rewards: step } });
  const append = (ordinal: number, type: 'training_started' | 'gradient_step' | 'training_ended', data = {}) => ({
    id: createId(),
    jobId: id,
    ordinal,
    type,
    data,
    createdAtMs: ordinal,
  });
  await events.append(append(0, 'training_started', { config: { learning_rate: 1 }, num_sequences: losses.length }));
  for (const [i, loss] of losses.entries())
    await events.append(
      append(i + 1, 'gradient_step', {
        gradient_step: i + 1,
        loss,
        num_trained_tokens: 10,
        ...(i === 0 ? { once: 4 } : {}),
      }),
    );
  const checkpoint = {
    id: createId(),
    modelId: model_id,
    step,
    metrics: { 'train/reward': step / 2 },
    blobPrefix: `checkpoints/${model_id}/${id}.1`,
    fresh: false,
    createdAtMs: step,
  };
  await jobs.finish(id, attempt, {
    status: 'succeeded',
    errorMessage: null,
    endedAtMs: 3_500,
    event: append(losses.length + 1, 'training_ended'),
    checkpoint,
  });
}

beforeAll(async () => {
  model_id = await register(server, 'learner');
  url = `/v1/preview/models/${model_id}/metrics`;
  const body = {
    split: 'val',
    trajectory_groups: [
      {
        trajectories: [
          { messages_and_choices: [{ role: 'user', content: 'x' }], reward: 0.25, metrics: { '=evil,"cell"': 1 } },
        ],
      },
    ],
  };
  expect((await send(server, { url: `/v1/preview/models/${model_id}/log`, body })).statusCode).toBe(200);
  for (let step = 1; step <= 3; step++) await trainStep(step, [step, step + 1]);
});

const read = async (query = ''): Promise<List> => {
  const response = await send(server, { url: `${url}${query}` });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<List>();
};

test('has each step with means, sums, times, skipped rows, and logged metrics', async () => {
  const { data } = await read();
  expect(data).toMatchObject([
    { id: 'step-0', step: 0, job_id: null, num_gradient_steps: 0, metrics: { 'val/reward': 0.25 }, seconds: null },
    {
      step: 1,
      type: 'rl',
      status: 'succeeded',
      seconds: 2.5,
      num_gradient_steps: 2,
      metrics: { loss: 1.5, num_trained_tokens: 20, once: 4, 'train/reward': 0.5 },
      skipped: { equal_rewards: 1 },
    },
    { step: 2, metrics: { loss: 2.5, 'train/reward': 1 } },
    { step: 3 },
  ]);
  expect(data[1]!.metrics).not.toHaveProperty('gradient_step');
});

test('comes in pages, each step once, also if step 0 fills one', async () => {
  const seen: (number | null)[] = [];
  for (let after = ''; ;) {
    const page = await read(`?limit=1${after && `&after=${after}`}`);
    seen.push(...page.data.map(({ step }) => step));
    if (!page.has_more) break;
    after = page.data.at(-1)!.id;
  }
  expect(seen).toEqual([0, 1, 2, 3]);
  expect((await send(server, { url: `${url}?after=${createId()}` })).statusCode).toBe(400);
});

test('is JSON lines, or a table with no cell that a spreadsheet would run', async () => {
  const { data } = await read();
  for (const request of [{ url: `${url}?format=jsonl&limit=1` }, { url, headers: { accept: 'application/jsonl' } }]) {
    const response = await send(server, request);
    expect(response.headers['content-type']).toContain('application/jsonl');
    expect(
      response.body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Step),
    ).toEqual(data);
  }
  const table = await send(server, { url, headers: { accept: 'text/csv' } });
  expect(table.headers['content-type']).toContain('text/csv');
  const lines = table.body.trimEnd().split('\r\n');
  expect(lines[0]).toContain('step,job_id,type,status,training_start,training_end,seconds,num_gradient_steps,loss,');
  expect(lines[0]).toContain(',skipped/equal_rewards');
  expect(lines[0]).toContain('"val/=evil,""cell"""');
  expect(lines).toHaveLength(5);
  expect(lines[2]).toMatch(
    /^1,[0-9a-f-]{36},rl,succeeded,1970-01-01T00:00:01.000Z,1970-01-01T00:00:03.500Z,2.5,2,1.5,/,
  );
  expect((await send(server, { url: `${url}?format=xml` })).statusCode).toBe(422);
});

test('is an event file for TensorBoard: framed, with checksums, a scalar per metric and step', async () => {
  const response = await send(server, { url: `${url}?format=tensorboard` });
  expect(response.headers['content-type']).toBe('application/octet-stream');
  const bytes = response.rawPayload;
  // As written by tensorboard 2.21: `brain.Event:2`, wall time 3.5.
  const first = '1800000000000000a37f4b22090000000000000c401a0d627261696e2e4576656e743a32fd43f5f6';
  expect(bytes.subarray(0, 40).toString('hex')).toBe(first);
  const records: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = Number(bytes.readBigUInt64LE(at));
    records.push(bytes.subarray(at + 12, at + 12 + length));
    at += 12 + length + 4;
  }
  expect(records).toHaveLength(5); // the version, and steps 0 to 3
  for (const [i, tag] of ['val/reward', 'loss', 'skipped/equal_rewards', 'train/reward'].entries())
    expect(records[i + 1]!.includes(tag), tag).toBe(true);
});

test('stays when checkpoints are deleted, except for their own fields', async () => {
  await send(server, { method: 'DELETE', url: `/v1/preview/models/${model_id}/checkpoints`, body: { steps: [1] } });
  const { data } = await read();
  expect(data[1]).toMatchObject({ step: 1, metrics: { loss: 1.5 } });
  expect(data[1]!.metrics).not.toHaveProperty('train/reward');
});

test('has means of numbers whose sum overflows a double', async () => {
  await trainStep(4, [1e308, 1e308]);
  await trainStep(5, [1e308, -1e308]);
  const { data } = await read();
  expect(data.slice(-2)).toMatchObject([
    { step: 4, metrics: { loss: 1e308 } },
    { step: 5, metrics: { loss: 0 } },
  ]);
});
