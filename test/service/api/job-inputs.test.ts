// The inputs of a job, read back over HTTP: settings, groups, trajectories.
import { beforeAll, describe, expect, test } from 'vitest';
import { register } from '../../support/api/registered-model.ts';
import { send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer({ limits: { trainingBodyBytesMax: 40_000_000 } });
const JOBS = '/v1/preview/training-jobs';

interface List<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
}

interface Group {
  readonly id: string;
  readonly prompt: string | null;
  readonly rewards: readonly number[];
}

interface ReadTrajectory {
  readonly id: string;
  readonly histories: readonly { readonly turns: readonly { readonly message: { readonly content: string } }[] }[];
}

const choice = {
  index: 0,
  finish_reason: 'length',
  message: { role: 'assistant', content: 'yes' },
  token_ids: [7, 8],
  logprobs: {
    content: [
      { token: 'token_id:7', logprob: -0.5 },
      { token: 'token_id:8', logprob: -1 },
    ],
  },
};
const trajectoryOf = (content: string, reward: number, more: object = {}) => ({
  messages_and_choices: [{ role: 'system', content: 'Be kind.' }, { role: 'user', content }, choice],
  reward,
  ...more,
});

let model_id: string;
beforeAll(async () => void (model_id = await register(server, 'read-back')));

async function submit(trajectory_groups: unknown, experimental_config: object = {}): Promise<string> {
  const response = await send(server, { url: JOBS, body: { model_id, trajectory_groups, experimental_config } });
  expect(response.statusCode, response.body).toBe(200);
  const { id } = response.json<{ id: string }>();
  await send(server, { method: 'POST', url: `${JOBS}/${id}/cancel` });
  return id;
}

async function get<T>(url: string): Promise<T> {
  const response = await send(server, { url });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<T>();
}

/** Lines of JSON. */
async function lines(url: string): Promise<Record<string, unknown>[]> {
  const response = await send(server, { url });
  expect(response.statusCode, response.body).toBe(200);
  expect(response.headers['content-type']).toContain('application/jsonl');
  return response.body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function allPages<T extends { id: string }>(url: string, limit: number): Promise<T[][]> {
  const pages: T[][] = [];
  for (let after = ''; ;) {
    const page = await get<List<T>>(`${url}?limit=${limit}${after && `&after=${after}`}`);
    pages.push([...page.data]);
    if (!page.has_more) return pages;
    after = page.data.at(-1)!.id;
  }
}

describe('the settings of a job', () => {
  test('are shown with every default, before it starts', async () => {
    const id = await submit([], { learning_rate: 1e-4, ppo: true, kl_penalty_coef: 0.1, kl_penalty_step_lag: 2 });
    expect(await get(`${JOBS}/${id}/config`)).toMatchObject({
      as_trained: false,
      config: {
        learning_rate: 1e-4,
        loss_fn: 'ppo',
        epsilon: 0.2,
        epsilon_high: 0.2,
        scale_rewards: true,
        kl_penalty_coef: 0.1,
        kl_penalty_source: 'sample',
        kl_penalty_step_lag: 2,
        kl_ref_adapter_path: null,
        optimizer: { name: 'adamw', beta1: 0.9, beta2: 0.99, weight_decay: 0.1, max_grad_norm: 0.1 },
        lora: { r: 4, lora_alpha: 8, use_rslora: false },
      },
      input: { kind: 'groups', path: `${JOBS}/${id}/groups`, uri: null },
    });
  });

  test('of an SFT job name the artifact, and it has no groups', async () => {
    const file = '/v1/artifacts/default/demo/examples/train.jsonl';
    expect((await send(server, { method: 'PUT', url: file, body: '{}' })).statusCode).toBe(201);
    const body = {
      model_id,
      training_data_url: 'wandb-artifact:///default/demo/examples:v0',
      config: { batch_size: 4 },
    };
    const response = await send(server, { url: '/v1/preview/sft-training-jobs', body });
    expect(response.statusCode, response.body).toBe(200);
    const { id } = response.json<{ id: string }>();
    await send(server, { method: 'POST', url: `${JOBS}/${id}/cancel` });
    const config = await get<{ input: { path: string } }>(`${JOBS}/${id}/config`);
    expect(config).toMatchObject({
      config: {
        batch_size: 4,
        learning_rate: 6.9e-4, // for a hidden size of 32
        lr_scheduler_type: 'constant',
        warmup_steps: 0,
        epochs: 1,
        packing: true,
        assistant_turns: 'all',
      },
      input: { kind: 'artifact', uri: 'wandb-artifact:///default/demo/examples:v0' },
    });
    expect((await send(server, { url: config.input.path })).body).toBe('{}');
    const groups = await send(server, { url: `${JOBS}/${id}/groups` });
    expect(groups.statusCode, groups.body).toBe(404);
  });
});

describe('the groups of a job', () => {
  test('come back with everything the client sent about them', async () => {
    const about = {
      metrics: { correct: true, length: 3 },
      metadata: { task: 'x', deep: { list: [1, null] } },
      logs: ['tried', 'failed'],
      start_time: '2026-01-01T00:00:00Z',
      initial_policy_version: 4,
    };
    const exceptions = [{ type: 'ValueError', message: 'no', traceback: 'line 1' }, 'only words', { odd: 1 }];
    const id = await submit([
      { trajectories: [] },
      {
        trajectories: [trajectoryOf('Is it?', 1, about), trajectoryOf('Is it?', 0)],
        exceptions,
        metadata: { seed: 1 },
        logs: ['began'],
      },
      { trajectories: [trajectoryOf('Same?', 1), trajectoryOf('Same?', 1)] },
    ]);
    const { data } = await get<List<Group>>(`${JOBS}/${id}/groups`);
    expect(data).toMatchObject([
      { id: '0', prompt: null, rewards: [], advantages: [], has_signal: false, num_trajectories: 0 },
      {
        id: '1',
        prompt: 'Is it?',
        prompt_is_cut: false,
        rewards: [1, 0],
        advantages: [expect.closeTo(1, 4), expect.closeTo(-1, 4)],
        has_signal: true,
        metrics: { reward: 0.5, reward_std_dev: 0.5, exception_rate: 0.6, correct: 1, length: 3 },
        num_trajectories: 2,
        num_exceptions: 3,
        num_messages: 6,
        num_sampled_turns: 2,
        num_sampled_tokens: 4,
        exceptions: [
          { type: 'ValueError', message: 'no', traceback: 'line 1' },
          { type: null, message: 'only words', traceback: null },
          { type: null, message: '{"odd":1}', traceback: null },
        ],
        metadata: { seed: 1 },
        logs: ['began'],
      },
      { id: '2', has_signal: false, advantages: [0, 0] },
    ]);
    expect(await get(`${JOBS}/${id}/groups/1`)).toEqual(data[1]);
    const trajectories = await get<List<ReadTrajectory>>(`${JOBS}/${id}/groups/1/trajectories`);
    expect(trajectories.data[0]).toMatchObject({
      id: '0',
      reward: 1,
      advantage: expect.closeTo(1, 4) as number,
      ...about,
      final_policy_version: null,
      histories: [
        {
          tools: [],
          turns: [
            { message: { role: 'system', content: 'Be kind.' }, sampled: null },
            { message: { role: 'user', content: 'Is it?' }, sampled: null },
            {
              message: { role: 'assistant', content: 'yes' },
              sampled: { finish_reason: 'length', num_tokens: 2, has_logprobs: true },
            },
          ],
        },
      ],
    });
    expect(trajectories.data[1]).toMatchObject({ id: '1', reward: 0, metadata: {}, logs: [], start_time: null });
  });

  test('come in pages, each group and trajectory once', async () => {
    const groups = Array.from({ length: 5 }, (_, g) => ({
      trajectories: Array.from({ length: 5 }, (_, t) => trajectoryOf(`${g}.${t}`, t)),
    }));
    const id = await submit(groups);
    const pages = await allPages<Group>(`${JOBS}/${id}/groups`, 2);
    expect(pages.map((page) => page.map((group) => group.id))).toEqual([['0', '1'], ['2', '3'], ['4']]);
    expect(pages.flat().map(({ prompt }) => prompt)).toEqual(['0.0', '1.0', '2.0', '3.0', '4.0']);
    const own = await allPages<ReadTrajectory>(`${JOBS}/${id}/groups/3/trajectories`, 3);
    expect(own.map((page) => page.length)).toEqual([3, 2]);
    expect(own.flat().map(({ histories }) => histories[0]!.turns[1]!.message.content)).toEqual(
      [0, 1, 2, 3, 4].map((t) => `3.${t}`),
    );
  });

  test('have a line for each trajectory, whole or shortened, and can be searched by text', async () => {
    const called = [{ id: 'a', type: 'function', function: { name: 'look_up', arguments: '{"word":"Zebra"}' } }];
    const calling = { ...choice, message: { role: 'assistant', content: null, tool_calls: called } };
    const id = await submit([
      { trajectories: [trajectoryOf('One?', 1, { metadata: { secret: 7 } }), trajectoryOf('One?', 0)] },
      { trajectories: [{ messages_and_choices: [{ role: 'user', content: 'x'.repeat(400) }, calling], reward: 2 }] },
    ]);
    const url = `${JOBS}/${id}/trajectories`;
    expect(await lines(`${url}?view=summary`)).toEqual([
      {
        group: 0,
        index: 0,
        reward: 1,
        advantage: expect.closeTo(1, 4) as number,
        metrics: {},
        metadata: { secret: 7 },
        prompt: 'One?',
        prompt_is_cut: false,
        answer: 'yes',
        answer_is_cut: false,
        finish_reason: 'length',
        num_messages: 3,
        num_sampled_turns: 1,
        num_sampled_tokens: 2,
        is_trained: null,
        reason: null,
      },
      expect.objectContaining({ group: 0, index: 1, reward: 0, advantage: expect.closeTo(-1, 4) as number }),
      expect.objectContaining({
        group: 1,
        advantage: 0,
        prompt: 'x'.repeat(300),
        prompt_is_cut: true,
        answer: 'look_up({"word":"Zebra"})',
      }),
    ]);
    const found = async (search: string) =>
      (await lines(`${url}?view=summary&search=${encodeURIComponent(search)}`)).map(({ group, index }) => [
        group,
        index,
      ]);
    expect(await found('one?')).toEqual([
      [0, 0],
      [0, 1],
    ]);
    expect(await found('zebra')).toEqual([[1, 0]]);
    expect(await found('"secret":7')).toEqual([[0, 0]]);
    expect(await found('nowhere')).toEqual([]);
    expect(await lines(`${url}?search=zebra`)).toMatchObject([
      { group: 1, index: 0, histories: [{ turns: [{}, {}] }] },
    ]);
    expect((await send(server, { url: `${url}?view=other` })).statusCode).toBe(422);
  });

  test('are refused for an unknown job with the same errors as in every list', async () => {
    const id = await submit([{ trajectories: [trajectoryOf('a', 1)] }]);
    for (const [url, status] of [
      [`${JOBS}/${id}/groups/1`, 404],
      [`${JOBS}/${id}/groups/1/trajectories`, 404],
      [`${JOBS}/${id}/groups/x`, 422],
      [`${JOBS}/${id}/groups/-1`, 422],
      [`${JOBS}/${id}/groups?after=1`, 400],
      [`${JOBS}/${id}/groups?after=x`, 400],
      [`${JOBS}/${id}/groups?limit=101`, 422],
      [`${JOBS}/${id}/groups/0/trajectories?after=1`, 400],
      [`${JOBS}/${id}/groups?after=0`, 200],
    ] as const)
      expect((await send(server, { url })).statusCode, url).toBe(status);
  });

  test('with hostile content are JSON strings, and a page is limited by its bytes', async () => {
    const hostile = [
      '\u001b[2J\u001b]0;owned\u0007',
      '"}]}\n{"sha256":"x"}',
      '\u2028\ufffd',
      `${'é"😀\\'.repeat(1_500_000)}`,
    ];
    const body = Buffer.from(
      JSON.stringify({
        model_id,
        trajectory_groups: [{ trajectories: hostile.map((text, t) => trajectoryOf(text, t)) }],
      }),
    );
    const response = await server.app.inject({
      method: 'POST',
      url: JOBS,
      headers: { authorization: 'Bearer wk-bootstrap', 'content-type': 'application/json' },
      payload: body,
    });
    expect(response.statusCode, response.body).toBe(200);
    const { id } = response.json<{ id: string }>();
    const pages = await allPages<ReadTrajectory>(`${JOBS}/${id}/groups/0/trajectories`, 100);
    const texts = pages.flat().map(({ histories }) => histories[0]!.turns[1]!.message.content);
    expect(texts).toEqual(hostile);
    const { data } = await get<List<Group>>(`${JOBS}/${id}/groups`);
    expect(data[0]).toMatchObject({ prompt: hostile[0] });
  });
});
