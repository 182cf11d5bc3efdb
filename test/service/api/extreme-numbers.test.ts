// Rewards and metrics at the limits of a double, over HTTP: stored and read back to the bit, and everything computed from them
// is a number, because clients call float() on it. training/advantage.test.ts checks that a job trains on them.
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { register, type List } from '../../support/api/registered-model.ts';
import { send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();

const EXTREMES = [1e308, -1e308, Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, -0.1];
const choice = {
  index: 0,
  finish_reason: 'length',
  message: { role: 'assistant', content: 'yes' },
  token_ids: [7],
  logprobs: { content: [{ token: 'token_id:7', logprob: -0.5 }] },
};
const trajectory_groups = [
  EXTREMES,
  [1e308, 1e308],
  [1e308, -1e308],
  [Number.MAX_VALUE, -Number.MAX_VALUE, Number.MAX_VALUE],
].map((rewards, i) => ({
  metrics: { best: i % 2 === 0 ? 1e308 : -1e308 },
  trajectories: rewards.map((reward) => ({
    messages_and_choices: [{ role: 'user', content: 'Hi' }, choice],
    reward,
    metrics: { score: reward, least: -1e308 },
  })),
}));
const sent = trajectory_groups.map(({ trajectories }) => trajectories.map(({ reward }) => reward));

interface Group {
  readonly rewards: readonly number[];
  readonly advantages: readonly (number | null)[] | null;
  readonly metrics: Readonly<Record<string, number | null>>;
}

async function get<T>(url: string): Promise<T> {
  const response = await send(server, { url });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<T>();
}

const areNumbers = (values: readonly unknown[]): void => {
  for (const value of values) expect(value).toSatisfy(Number.isFinite);
};

async function expectReadBack(url: string): Promise<readonly Group[]> {
  const { data } = await get<{ data: Group[] }>(`${url}/groups`);
  expect(data.map(({ rewards }) => rewards)).toEqual(sent);
  for (const [i, { metrics }] of data.entries()) {
    areNumbers(Object.values(metrics));
    expect(metrics).toMatchObject({ group_metric_best: i % 2 === 0 ? 1e308 : -1e308, least: -1e308 });
    const { data: read } = await get<{ data: object[] }>(`${url}/groups/${i}/trajectories`);
    expect(read).toMatchObject(sent[i]!.map((reward) => ({ reward, metrics: { score: reward, least: -1e308 } })));
  }
  expect(data[1]!.metrics).toMatchObject({ reward: 1e308, reward_std_dev: 0 });
  expect(data[2]!.metrics).toMatchObject({ reward: 0, reward_std_dev: 1e308 });
  return data;
}

let model_id: string;
beforeAll(async () => void (model_id = await register(server, 'extreme')));

describe('rewards and metrics of ±1e308', () => {
  test('that are logged become metrics of the checkpoint', async () => {
    const model = `/v1/preview/models/${model_id}`;
    const logged = await send(server, { url: `${model}/log`, body: { split: 'val', trajectory_groups } });
    expect(logged.statusCode, logged.body).toBe(200);
    const { data } = await get<List & { data: { metrics: Record<string, number> }[] }>(`${model}/checkpoints`);
    const { metrics } = data[0]!;
    expect(Object.keys(metrics).sort()).toEqual(
      ['exception_rate', 'group_metric_best', 'least', 'reward', 'reward_std_dev', 'score'].map(
        (name) => `val/${name}`,
      ),
    );
    areNumbers(Object.values(metrics));
    expect(metrics).toMatchObject({ 'val/least': -1e308, 'val/group_metric_best': 0 });
    const steps = await get<{ data: { metrics: Record<string, number> }[] }>(`${model}/metrics`);
    expect(steps.data[0]!.metrics).toEqual(metrics);

    const { data: logs } = await get<List>(`${model}/logs`);
    await expectReadBack(`${model}/logs/${logs[0]!.id}`);
  });

  test('that are trained on come back as they were sent, with advantages', async () => {
    const JOBS = '/v1/preview/training-jobs';
    const response = await send(server, { url: JOBS, body: { model_id, trajectory_groups } });
    expect(response.statusCode, response.body).toBe(200);
    const groups = await expectReadBack(`${JOBS}/${response.json<{ id: string }>().id}`);
    for (const { advantages } of groups) areNumbers(advantages!);
    expect(groups[1]!.advantages).toEqual([0, 0]);
    expect(groups[2]!.advantages).toEqual([1, -1]);
  });
});

describe('a schema with an integer beyond 2^53', () => {
  const LONG = '12345678901234567890';
  const schema = (number: string) =>
    `{"type": "object", "properties": {"a": {"type": "integer", "maximum": ${number}}}}`;
  const tool = `{"type": "function", "function": {"name": "f", "parameters": ${schema(LONG)}}}`;
  const ofResponses = `{"type": "function", "name": "f", "parameters": ${schema(LONG)}}`;
  const format = `{"type": "json_schema", "name": "n", "schema": ${schema(LONG)}}`;
  const messages = '"messages": [{"role": "user", "content": "Hi"}]';
  const said = (fields: string) => `{"model": "p/long", ${fields}}`;
  beforeAll(() => register(server, 'long'));

  test.each([
    ['/v1/chat/completions', `"max_tokens": 2, ${messages}, "tools": [${tool}]`],
    ['/v1/messages', `"max_tokens": 2, ${messages}, "tools": [{"name": "f", "input_schema": ${schema(LONG)}}]`],
    ['/v1/responses', `"max_output_tokens": 16, "input": "Hi", "tools": [${ofResponses}]`],
    ['/v1/responses', `"max_output_tokens": 16, "input": "Hi", "store": true, "text": {"format": ${format}}`],
  ])('is served by %s, in an episode too: %s', async (url, fields) => {
    for (const headers of [{}, { 'x-whetstone-episode': 'long' }]) {
      const answer = await send(server, { url, body: said(fields), headers });
      expect(answer.statusCode, answer.body).toBe(200);
    }
  });

  test('waits with a response in the background', async () => {
    const body = said(`"max_output_tokens": 16, "input": "Hi", "background": true, "tools": [${ofResponses}]`);
    const { id } = (await send(server, { url: '/v1/responses', body })).json<{ id: string }>();
    await vi.waitFor(async () => {
      const { status } = await get<{ status: string }>(`/v1/responses/${id}`);
      expect(['completed', 'incomplete']).toContain(status);
    }, 20_000);
  });

  test('is repeated as a JSON number', async () => {
    const body = said(`"max_output_tokens": 16, "input": "Hi", "tools": [${ofResponses}]`);
    const { id, tools } = (await send(server, { url: '/v1/responses', body })).json<{ id: string; tools: object[] }>();
    expect(tools).toMatchObject([{ parameters: JSON.parse(schema(LONG)) as object }]);
    expect(await get<object>(`/v1/responses/${id}`)).toMatchObject({ tools });
  });
});
