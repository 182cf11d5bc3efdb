// Models, checkpoints, jobs and events over HTTP. Jobs are not run here: events and checkpoints are written as the job
// runner writes them.
import { extract } from 'tar-stream';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createId } from '#base/ids';
import { storedJob } from './stored-job.ts';
import {
  BASE,
  chat,
  containing,
  faults,
  matching,
  openTestServer,
  QUEUED_JOBS_MAX,
  runScenarios,
  send,
  type TestServer,
} from './test-server.ts';

let server: TestServer;
beforeAll(async () => void (server = await openTestServer()));
afterAll(() => server.close());

async function register(name: string): Promise<string> {
  const response = await send(server, { url: '/v1/preview/models', body: { project: 'p', name, base_model: BASE } });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<{ id: string }>().id;
}

async function strangerHeaders(): Promise<Record<string, string>> {
  const { secret } = await server.apiKeys.create({ entity: `team-${createId().slice(0, 8)}`, name: 'stranger' });
  return { authorization: `Bearer ${secret}` };
}

interface List {
  object: string;
  data: { id: string; step?: number; type?: string }[];
  first_id: string;
  last_id: string;
  has_more: boolean;
}

describe('registering a model', () => {
  const body = { entity: null, project: 'p', name: 'agent', base_model: BASE, return_existing: true };

  test('gives the caller’s entity, a run_id of null, and a step 0 that can be called', async () => {
    const response = await send(server, { url: '/v1/preview/models', body });
    expect(response.json()).toEqual({
      id: matching(/./),
      entity: 'default',
      project: 'p',
      name: 'agent',
      base_model: BASE,
      run_id: null,
    });
    const { id } = response.json<{ id: string }>();
    expect((await send(server, { url: `/v1/preview/models/${id}/checkpoints` })).json<List>().data).toMatchObject([
      { step: 0, metrics: {} },
    ]);
    for (const model of [
      'wandb-artifact:///default/p/agent',
      'wandb-artifact://default/p/agent:latest',
      'artifact:///default/p/agent:step0',
      'wandb-artifact:///default/p/agent:v0',
      'default/p/agent',
      'default/p/agent@0',
    ]) {
      expect((await send(server, { url: '/v1/chat/completions', body: chat({ model }) })).statusCode, model).toBe(200);
    }
  });

  test('twice with return_existing gives the same model', async () => {
    const [first, second] = await Promise.all([
      send(server, { url: '/v1/preview/models', body }),
      send(server, { url: '/v1/preview/models/', body }),
    ]);
    expect(first.json()).toEqual(second.json());
  });

  runScenarios(() => server, [
    { name: 'twice without it is a conflict', url: '/v1/preview/models', body: { ...body, return_existing: false }, status: 409, answer: { error: { code: 'model_conflict' } } },
    {
      name: 'on an unknown base model names the known ones',
      url: '/v1/preview/models',
      body: { ...body, name: 'other', base_model: 'nope' },
      status: 404,
      answer: { detail: containing(BASE), error: { code: 'base_model_not_found', param: 'base_model' } },
    },
    { name: 'in another entity is a 404', url: '/v1/preview/models', body: { ...body, entity: 'someone' }, status: 404 },
    {
      name: 'without a name is told so',
      url: '/v1/preview/models',
      body: { project: 'p', base_model: BASE },
      status: 422,
      answer: { detail: [{ loc: ['body', 'name'], type: 'missing', input: { project: 'p' } }] },
    },
    { name: 'cannot have a name that would break model names', url: '/v1/preview/models', body: { ...body, name: 'a/b:c' }, status: 422, then: (r) => expect(faults(r)).toEqual(['body.name value_error']) },
  ]); // prettier-ignore

  test('from a checkpoint makes a fork: step 0 is its copy, with its metrics, callable at once', async () => {
    const source = await register('forked');
    const step = (await server.storage.checkpoints.findLatest(source))!;
    await server.storage.checkpoints.mergeMetrics(step.id, { 'val/reward': 0.5 });
    const fork = (from_checkpoint: string, name: string) =>
      send(server, { url: '/v1/preview/models', body: { ...body, name, from_checkpoint } });
    const response = await fork('default/p/forked@0', 'fork');
    expect(response.statusCode, response.body).toBe(200);
    const { id } = response.json<{ id: string }>();
    const copy = (await server.storage.checkpoints.findLatest(id))!;
    expect(copy).toMatchObject({ step: 0, metrics: { 'val/reward': 0.5 } });
    const files = (blobPrefix: string) => server.blobs.list(blobPrefix).then((list) => list.map(({ name, sizeBytes }) => [name.split('/').at(-1), sizeBytes]));
    expect(await files(copy.blobPrefix)).toEqual(await files(step.blobPrefix));
    expect((await send(server, { url: '/v1/chat/completions', body: chat({ model: 'default/p/fork' }) })).statusCode).toBe(200);
    await send(server, { method: 'DELETE', url: `/v1/preview/models/${source}` });
    expect(await files(copy.blobPrefix)).not.toEqual([]); // a copy, not a reference
    const missing = await fork('default/p/forked@0', 'fork-of-nothing');
    expect(missing.statusCode).toBe(404);
    expect(missing.json()).toMatchObject({ error: { code: 'checkpoint_not_found', param: 'from_checkpoint' } });
  }); // prettier-ignore

  test('with another base model is a conflict', async () => {
    await server.storage.models.create(
      {
        id: createId(),
        entity: 'default',
        project: 'p',
        name: 'older',
        baseModel: 'gone/base',
        runId: null,
        createdAtMs: 1,
      },
      { id: createId(), modelId: 'x', step: 0, metrics: {}, blobPrefix: 'checkpoints/x/0', createdAtMs: 1 },
    );
    const response = await send(server, { url: '/v1/preview/models', body: { ...body, name: 'older' } });
    expect(response.statusCode).toBe(409);
    expect(response.json<{ detail: string }>().detail).toContain('gone/base');
  });

  test('with an Idempotency-Key answers repeats alike, and refuses another body', async () => {
    const request = {
      url: '/v1/preview/models',
      headers: { 'idempotency-key': 'k1' },
      body: { ...body, name: 'once', return_existing: false },
    };
    const first = await send(server, request);
    expect(first.statusCode).toBe(200);
    const second = await send(server, request);
    expect(second.json()).toEqual(first.json());
    const other = await send(server, { ...request, body: { ...body, name: 'twice' } });
    expect(other.statusCode).toBe(422);
    expect(other.json()).toMatchObject({ error: { code: 'idempotency_mismatch' } });
    server.clock.advance(25 * 3_600_000);
    expect((await send(server, request)).statusCode).toBe(409); // forgotten after a day: the name is taken
  });

  test('under an Idempotency-Key that is still running is a 409', async () => {
    const request = {
      url: '/v1/preview/models',
      headers: { 'idempotency-key': 'at-once' },
      body: { ...body, name: 'at-once', return_existing: false },
    };
    const statuses = (await Promise.all([send(server, request), send(server, request)])).map((each) => each.statusCode);
    expect(statuses.sort()).toEqual([200, 409]);
    expect((await send(server, request)).statusCode).toBe(200);
  });

  test('failing under an Idempotency-Key leaves the key free', async () => {
    const request = { url: '/v1/preview/models', headers: { 'idempotency-key': 'k2' } };
    expect((await send(server, { ...request, body: { ...body, base_model: 'nope', name: 'k2' } })).statusCode).toBe(
      404,
    );
    expect((await send(server, { ...request, body: { ...body, name: 'k2' } })).statusCode).toBe(200);
  });
});

describe('another entity', () => {
  test('sees nothing of a model: 404 everywhere', async () => {
    const id = await register('secret');
    const headers = await strangerHeaders();
    const job = await send(server, { url: '/v1/preview/training-jobs', body: { model_id: id, trajectory_groups: [] } });
    const jobUrl = `/v1/preview/training-jobs/${job.json<{ id: string }>().id}`;
    const requests = [
      { url: `/v1/preview/models/${id}` },
      { method: 'DELETE' as const, url: `/v1/preview/models/${id}` },
      { url: `/v1/preview/models/${id}/checkpoints` },
      { method: 'DELETE' as const, url: `/v1/preview/models/${id}/checkpoints`, body: { steps: [0] } },
      { url: `/v1/preview/models/${id}/checkpoints/0/download` },
      { url: `/v1/preview/models/${id}/log`, body: { split: 'val', trajectory_groups: [] } },
      { url: '/v1/preview/training-jobs', body: { model_id: id, trajectory_groups: [] } },
      { url: jobUrl },
      { url: `${jobUrl}/events` },
      { url: `${jobUrl}/events`, headers: { ...headers, accept: 'text/event-stream' } },
      { method: 'POST' as const, url: `${jobUrl}/cancel` },
      { url: '/v1/chat/completions', body: chat({ model: 'wandb-artifact:///default/p/secret' }) },
      { url: '/v1/models/wandb-artifact:%2F%2F%2Fdefault%2Fp%2Fsecret' },
    ];
    for (const request of requests)
      expect((await send(server, { headers, ...request })).statusCode, request.url).toBe(404);
    for (const url of ['/v1/preview/models', '/v1/preview/training-jobs'])
      expect((await send(server, { url, headers })).json<List>().data).toEqual([]);
    expect((await send(server, { url: '/v1/models', headers })).json<List>().data.map((model) => model.id)).toEqual([
      BASE,
    ]);
    expect((await send(server, { method: 'POST', url: `${jobUrl}/cancel` })).statusCode).toBe(200);
  });
});

describe('checkpoints', () => {
  let id: string;
  beforeAll(async () => {
    id = await register('stepper');
    const prefix = (step: number) => `checkpoints/${id}/${step}`;
    const weights = (await server.blobs.find(`${prefix(0)}/adapter_model.safetensors`))!;
    const config = (await server.blobs.find(`${prefix(0)}/adapter_config.json`))!;
    for (let step = 1; step <= 24; step++) {
      await server.blobs.put(`${prefix(step)}/adapter_model.safetensors`, weights);
      await server.blobs.put(`${prefix(step)}/adapter_config.json`, config);
      const { jobs } = server.storage;
      const jobId = createId();
      await jobs.create({
        id: jobId,
        type: 'rl',
        modelId: id,
        entity: 'default',
        keyId: 'k',
        bodyBlob: `jobs/${jobId}/body.json`,
        createdAtMs: step,
      });
      const job = await jobs.claim('test', step, 1);
      await jobs.finish(job!.id, job!.attempt, {
        status: 'succeeded', errorMessage: null, endedAtMs: step,
        event: { id: createId(), jobId: job!.id, ordinal: 0, type: 'training_ended', data: {}, createdAtMs: step },
        checkpoint: { id: createId(), modelId: id, step, metrics: {}, blobPrefix: prefix(step), createdAtMs: step },
      }); // prettier-ignore
    }
  });
  const list = async (query: string): Promise<List> =>
    (await send(server, { url: `/v1/preview/models/${id}/checkpoints${query}` })).json();

  test('are listed by step, 20 at a time, and continue strictly after the cursor', async () => {
    const first = await list('');
    expect(first.data.map(({ step }) => step)).toEqual(Array.from({ length: 20 }, (_, i) => i));
    expect(first).toMatchObject({
      object: 'list',
      has_more: true,
      first_id: first.data[0]!.id,
      last_id: first.data[19]!.id,
    });
    const second = await list(`?after=${first.last_id}`);
    expect(second.data.map(({ step }) => step)).toEqual([20, 21, 22, 23, 24]);
    expect(second.has_more).toBe(false);
    expect(await list(`?after=${second.last_id}`)).toEqual({
      object: 'list',
      data: [],
      first_id: '',
      last_id: '',
      has_more: false,
    });
  });

  test('descending, after means smaller steps', async () => {
    const first = await list('?order=desc&limit=1');
    expect(first.data[0]!.step).toBe(24);
    expect((await list(`?order=desc&limit=2&after=${first.last_id}`)).data.map(({ step }) => step)).toEqual([23, 22]);
  });

  test('an unknown cursor gives an empty page', async () => {
    expect((await list(`?after=${createId()}`)).data).toEqual([]);
  });

  test('are called by step, several at once, under the name that answers', async () => {
    const models = await Promise.all(
      [1, 2, 3].map(
        async (step) =>
          (
            await send(server, { url: '/v1/chat/completions', body: chat({ model: `default/p/stepper@${step}` }) })
          ).json<{ model: string }>().model,
      ),
    );
    expect(models).toEqual([1, 2, 3].map((step) => `wandb-artifact:///default/p/stepper:step${step}`));
    expect(
      (await send(server, { url: '/v1/chat/completions', body: chat({ model: 'default/p/stepper' }) })).json<{
        model: string;
      }>().model,
    ).toMatch(/:step24$/);
  });

  test('are listed among the models of the OpenAI API, and readable by name', async () => {
    const ids = (await send(server, { url: '/v1/models' })).json<List>().data.map((model) => model.id);
    expect(ids).toEqual(
      expect.arrayContaining([
        BASE,
        'wandb-artifact:///default/p/stepper',
        'wandb-artifact:///default/p/stepper:step24',
      ]),
    );
    for (const name of ids.filter((each) => each.includes('stepper')).slice(0, 3)) {
      const response = await send(server, { url: `/v1/models/${encodeURIComponent(name)}` });
      expect(response.json(), response.body).toMatchObject({ id: name, object: 'model', owned_by: 'default' });
    }
    expect((await send(server, { url: `/v1/models/${BASE}` })).json()).toMatchObject({
      id: BASE,
      owned_by: 'whetstone',
    });
  });

  test('download as a tar of the PEFT directory', async () => {
    const response = await send(server, { url: `/v1/preview/models/${id}/checkpoints/3/download` });
    expect(response.headers).toMatchObject({
      'content-type': 'application/x-tar',
      'content-disposition': 'attachment; filename="stepper-step3.tar"',
    });
    const names: string[] = [];
    for await (const entry of Readable.from(response.rawPayload).pipe(extract())) {
      names.push(entry.header.name);
      entry.resume();
    }
    expect(names.sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
    expect(
      (await send(server, { url: `/v1/preview/models/${id}/checkpoints/latest/download` })).headers[
        'content-disposition'
      ],
    ).toContain('step24');
  });

  test('deleting takes a body, counts, and may be repeated', async () => {
    const remove = {
      method: 'DELETE' as const,
      url: `/v1/preview/models/${id}/checkpoints`,
      body: { steps: [5, 6, 6, 999] },
    };
    expect((await send(server, remove)).json()).toEqual({ deleted_count: 2, not_found_steps: [999] });
    expect((await send(server, remove)).json()).toEqual({ deleted_count: 0, not_found_steps: [5, 6, 999] });
    expect(
      (await send(server, { url: '/v1/chat/completions', body: chat({ model: 'default/p/stepper@5' }) })).statusCode,
    ).toBe(404);
    expect(await server.blobs.find(`checkpoints/${id}/5/adapter_config.json`)).toBeNull();
  });

  test('logged trajectories become metrics of the latest', async () => {
    const group = {
      trajectories: [
        { messages_and_choices: [], reward: 1 },
        { messages_and_choices: [], reward: 0 },
      ],
    };
    const response = await send(server, {
      url: `/v1/preview/models/${id}/log`,
      body: { model_id: id, split: 'val', trajectory_groups: [group] },
    });
    expect(response.json()).toMatchObject({ step: 24, metrics: { 'val/reward': 0.5 } });
    expect((await list('?order=desc&limit=1')).data[0]).toMatchObject({ metrics: { 'val/reward': 0.5 } });
  });

  runScenarios(() => server, [
    ...['0', '101', '-1', 'x'].map((limit) => ({
      name: `limit ${limit} is refused`,
      url: `/v1/preview/models?limit=${limit}`,
      status: 422,
      answer: { detail: [{ loc: ['query', 'limit'] }] },
    })),
    { name: 'an unknown order is refused', url: `/v1/preview/models/x/checkpoints?order=up`, status: 422, answer: { detail: [{ loc: ['query', 'order'], type: 'literal_error', ctx: { expected: "'asc' or 'desc'" } }] } },
    { name: 'of an unknown model are a 404', url: `/v1/preview/models/${createId()}/checkpoints`, status: 404, answer: { error: { code: 'model_not_found' } } },
    { name: 'a step that is no number is refused', url: `/v1/preview/models/x/checkpoints/best/download`, status: 422 },
  ]); // prettier-ignore

  test('go with their model, which can be deleted once', async () => {
    const gone = await register('gone');
    const request = { method: 'DELETE' as const, url: `/v1/preview/models/${gone}` };
    expect((await send(server, request)).json()).toEqual({
      model_id: gone,
      deleted_checkpoints: 1,
      deleted_run: false,
    });
    expect((await send(server, request)).statusCode).toBe(404);
    expect(await server.blobs.list(`checkpoints/${gone}`)).toEqual([]);
  });
});

describe('submitting a job', () => {
  let model_id: string;
  beforeAll(async () => void (model_id = await register('trainee')));
  const url = '/v1/preview/training-jobs';

  const choice = {
    index: 0,
    finish_reason: 'stop',
    message: { role: 'assistant', content: 'yes' },
    logprobs: { content: [{ token: 'token_id:7', logprob: -0.5, bytes: null, top_logprobs: [] }, { token: 'token_id:8', logprob: null }] },
  }; // prettier-ignore
  const trajectory = { messages_and_choices: [{ role: 'user', content: 'yes or no?' }, choice], reward: 0.5 };
  /** As a full-blown client sends it: every key, null for unset. */
  const artJob = () => ({
    model_id,
    trajectory_groups: [
      {
        trajectories: [
          { ...trajectory, tools: null, additional_histories: [{ messages_and_choices: [choice] }], metrics: { correct: true, length: 3 }, auto_metrics: { won: 1 }, metadata: { task: 'x' }, logs: [], initial_policy_version: null },
          { ...trajectory, reward: '1' },
        ],
        exceptions: [{ type: 'ValueError', message: 'no', traceback: '' }],
        metadata: {},
      },
    ],
    experimental_config: {
      learning_rate: 5e-6, advantage_balance: 0, importance_sampling_level: 'token', mask_prob_ratio: false, ppo: false,
      precalculate_logprobs: false, scale_rewards: true, epsilon: null, epsilon_high: null, kimi_k2_tau: null,
      max_negative_advantage_importance_sampling_weight: null, loss_fn: 'cispo', normalize_advantages: true, kl_penalty_coef: 0,
      kl_penalty_source: null, unheard_of: 1,
    },
  }); // prettier-ignore

  test('keeps what clients send, in the domain’s words', async () => {
    const response = await send(server, { url, body: artJob() });
    expect(response.statusCode, response.body).toBe(200);
    const { id } = response.json<{ id: string }>();
    expect(response.json()).toEqual({ id });
    const stored = await storedJob(server, id);
    expect(stored.config).toEqual({
      learningRate: 5e-6, advantageBalance: 0, ppo: false, scaleRewards: true, importanceSamplingLevel: 'token',
      maskProbRatio: false, precalculateLogprobs: false, klPenaltyCoefficient: 0,
    }); // prettier-ignore
    expect(stored.groups[0]).toMatchObject({ exceptionCount: 1 });
    const [first, second] = stored.groups[0]!.trajectories;
    expect(second!.reward).toBe(1);
    expect(first).toMatchObject({ reward: 0.5, metrics: { correct: true, length: 3, won: 1 } });
    expect(first!.histories).toHaveLength(2);
    expect(first!.histories[0]!.turns).toEqual([
      { kind: 'message', message: { role: 'user', content: 'yes or no?' } },
      {
        kind: 'sampled',
        message: { role: 'assistant', content: 'yes' },
        finishReason: 'stop',
        tokens: [7, 8],
        logprobs: [-0.5, null],
        promptTokenIds: null,
      },
    ]); // prettier-ignore
  });

  test('takes every setting, and refuses a KL reference that is not there', async () => {
    const every = {
      learning_rate: 1e-5, advantage_balance: 0.5, epsilon: 0.2, epsilon_high: 0.3, importance_sampling_level: 'sequence', kimi_k2_tau: 0.1,
      mask_prob_ratio: true, max_negative_advantage_importance_sampling_weight: 3, ppo: true, loss_fn: 'ppo', precalculate_logprobs: true,
      scale_rewards: false, normalize_advantages: false, allow_training_without_logprobs: true, kl_penalty_coef: 0.1, kl_penalty_source: 'sample',
      kl_ref_adapter_path: 'default/p/trainee@0', logprob_calculation_chunk_size: 256, num_trajectories_learning_rate_multiplier_power: 0.5,
      packed_sequence_length: 1024, plot_tensors: true, scale_learning_rate_by_reward_std_dev: true, truncated_importance_sampling: 2,
    }; // prettier-ignore
    const submit = (experimental_config: object) =>
      send(server, { url, body: { model_id, trajectory_groups: [], experimental_config } });
    const response = await submit(every);
    expect(response.statusCode, response.body).toBe(200);
    expect((await storedJob(server, response.json<{ id: string }>().id)).config).toEqual({
      learningRate: 1e-5, advantageBalance: 0.5, epsilon: 0.2, epsilonHigh: 0.3, importanceSamplingLevel: 'sequence', tau: 0.1,
      maskProbRatio: true, ratioMax: 3, ppo: true, precalculateLogprobs: true, scaleRewards: false, allowTrainingWithoutLogprobs: true,
      klPenaltyCoefficient: 0.1, klPenaltySource: 'sample', klReference: { checkpointName: 'default/p/trainee@0' }, logprobChunkSize: 256,
      sequenceCountPower: 0.5, packedSequenceLength: 1024, scaleLearningRateByRewardStdDev: true, truncatedImportanceSampling: 2,
    }); // prettier-ignore
    const missing = await submit({ ...every, kl_ref_adapter_path: 'default/p/nobody@3' });
    expect(missing.statusCode).toBe(404);
    expect(missing.json()).toMatchObject({ error: { code: 'checkpoint_not_found', param: 'kl_ref_adapter_path' } });
  });

  test('takes a choice of our own chat answers as it is', async () => {
    const answer = (
      await send(server, {
        url: '/v1/chat/completions',
        body: chat({ model: 'default/p/trainee', return_token_ids: true }),
      })
    ).json<{ choices: unknown[] }>();
    const response = await send(server, {
      url,
      body: {
        model_id,
        trajectory_groups: [{ trajectories: [{ messages_and_choices: [answer.choices[0]], reward: 1 }] }],
      },
    });
    expect(response.statusCode, response.body).toBe(200);
    const { id } = response.json<{ id: string }>();
    expect((await send(server, { url: `${url}/${id}` })).json()).toMatchObject({
      id, type: 'rl', model_id, status: 'queued', created_at: matching(/^2026-06-0\dT.*Z$/), training_start: null, training_end: null,
      error_message: null, progress: 0, step: null, skipped: {},
    }); // prettier-ignore
    expect(
      (await send(server, { url: `${url}?model_id=${model_id}&status=queued` })).json<List>().data.map((job) => job.id),
    ).toContain(id);
  });

  const withConfig = (config: Readonly<Record<string, unknown>>) => ({
    model_id: createId(),
    trajectory_groups: [],
    experimental_config: config,
  });
  const bad = (name: string, body: unknown, ...expected: string[]) => ({
    name, url, body, status: 422, then: (response: Parameters<typeof faults>[0]) => expect(faults(response)).toEqual(expected),
  }); // prettier-ignore
  runScenarios(() => server, [
    bad('names the place of every fault', { model_id: 'x', trajectory_groups: [{}, { trajectories: [{ reward: 'high', messages_and_choices: [{ role: 'user', content: 'a' }, {}] }] }] },
      'body.model_id uuid_parsing', 'body.trajectory_groups.0.trajectories missing',
      'body.trajectory_groups.1.trajectories.0.messages_and_choices.1.role missing', 'body.trajectory_groups.1.trajectories.0.reward float_parsing'),
    bad('finds a broken logprob', { model_id: createId(), trajectory_groups: [{ trajectories: [{ reward: 1, messages_and_choices: [{ ...choice, logprobs: { content: [{ token: 'a', logprob: 'x' }] } }] }] }] },
      'body.trajectory_groups.0.trajectories.0.messages_and_choices.0.logprobs.content.0.logprob float_type'),
    bad('refuses two KL references', withConfig({ kl_penalty_coef: 0.1, kl_penalty_reference_step: 1, kl_penalty_step_lag: 2 }), 'body.experimental_config.kl_penalty_step_lag value_error'),
    bad('refuses levels and losses that do not exist', withConfig({ importance_sampling_level: 'word', loss_fn: 'dpo', kl_penalty_source: 'x' }), 'body.experimental_config.loss_fn literal_error', 'body.experimental_config.importance_sampling_level literal_error', 'body.experimental_config.kl_penalty_source literal_error'),
    bad('refuses two values of one setting', withConfig({ vendor_k2_tau: 0.1, kimi_k2_tau: 0.2 }), 'body.experimental_config.kimi_k2_tau value_error'),
    bad('refuses numbers out of range', withConfig({ epsilon: -1, epsilon_high: -1, vendor_k2_tau: -1, max_negative_advantage_importance_sampling_weight: -1, truncated_importance_sampling: -1, kl_penalty_coef: -1, kl_penalty_reference_step: -1, kl_penalty_step_lag: -1, packed_sequence_length: 0, logprob_calculation_chunk_size: 0 }), ...['epsilon', 'epsilon_high', 'max_negative_advantage_importance_sampling_weight', 'truncated_importance_sampling', 'vendor_k2_tau', 'kl_penalty_coef', 'kl_penalty_reference_step', 'kl_penalty_step_lag', 'packed_sequence_length', 'logprob_calculation_chunk_size'].map((name) => `body.experimental_config.${name} greater_than_equal`)),
    bad('refuses contradictions', withConfig({ ppo: true, loss_fn: 'cispo', scale_rewards: true, normalize_advantages: false }), 'body.experimental_config.loss_fn value_error', 'body.experimental_config.normalize_advantages value_error'),
    bad('refuses rates that cannot be', withConfig({ learning_rate: 0, advantage_balance: 2 }), 'body.experimental_config.learning_rate greater_than', 'body.experimental_config.advantage_balance less_than_equal'),
    { name: 'for an unknown model is a 404', url, body: { model_id: createId(), trajectory_groups: [] }, status: 404, answer: { error: { code: 'model_not_found' } } },
    { name: 'and reading an unknown one too', url: `${url}/${createId()}`, status: 404, answer: { error: { code: 'job_not_found' } } },
  ]); // prettier-ignore

  test('with an Idempotency-Key twice makes one job', async () => {
    const request = { url, headers: { 'idempotency-key': 'job' }, body: { model_id, trajectory_groups: [] } };
    const [first, second] = [await send(server, request), await send(server, request)];
    expect(second.json()).toEqual(first.json());
  });

  test('is refused with 429 when enough jobs wait', async () => {
    const submit = () => send(server, { url, body: { model_id, trajectory_groups: [] } });
    let response = await submit();
    for (let i = 0; i < QUEUED_JOBS_MAX && response.statusCode === 200; i++) response = await submit();
    expect(response.statusCode).toBe(429);
    expect(response.headers['retry-after']).toBe('10');
  });
});

describe('events', () => {
  let jobId: string;
  let jobUrl: string;
  const append = async (
    ordinal: number,
    type: 'training_started' | 'gradient_step' | 'training_ended',
    data: Record<string, unknown> = {},
  ) => {
    await server.storage.events.append({ id: createId(), jobId, ordinal, type, data, createdAtMs: ordinal });
    server.jobEvents.notify(jobId);
  };
  const finish = async () => {
    const { jobs } = server.storage;
    const event = {
      id: createId(),
      jobId,
      ordinal: 23,
      type: 'training_failed' as const,
      data: { error_message: 'cancelled' },
      createdAtMs: 23,
    };
    expect(await jobs.requestCancel(jobId, 23, event)).toBe('cancelled');
    server.jobEvents.notify(jobId);
  };
  beforeAll(async () => {
    const modelId = await register('watched');
    jobId = createId();
    await server.storage.jobs.create({
      id: jobId,
      type: 'rl',
      modelId,
      entity: 'default',
      keyId: 'k',
      bodyBlob: `jobs/${jobId}/body.json`,
      createdAtMs: 1,
    });
    jobUrl = `/v1/preview/training-jobs/${jobId}`;
    await append(0, 'training_started', { num_sequences: 22 });
    for (let step = 1; step <= 20; step++) await append(step, 'gradient_step', { loss: 1 / step });
  });

  const list = async (query = ''): Promise<List> => (await send(server, { url: `${jobUrl}/events${query}` })).json();
  const framesOf = (body: string) => body.split('\n\n').filter((frame) => frame.startsWith('id: ')).map((frame) => {
    const [idLine, dataLine] = frame.split('\n');
    return { id: idLine!.slice(4), ...(JSON.parse(dataLine!.slice(6)) as { type: string }) };
  }); // prettier-ignore

  test('come 20 at a time, strictly after the cursor, and stay readable', async () => {
    const first = await list();
    expect(first.data).toHaveLength(20);
    expect(first.has_more).toBe(true);
    const second = await list(`?after=${first.last_id}`);
    expect(second.data.map(({ type }) => type)).toEqual(['gradient_step']);
    expect(await list()).toEqual(first);
    await append(21, 'gradient_step', { loss: 0 });
    expect((await list(`?after=${second.last_id}`)).data).toHaveLength(1);
  });

  test('are followed live from where the client was, until the job ends', async () => {
    const all = (await list('?limit=100')).data;
    const seen = all[18]!.id;
    const following = send(server, {
      url: `${jobUrl}/events`,
      headers: { accept: 'text/event-stream', 'last-event-id': seen },
    });
    await append(22, 'gradient_step', { loss: 0 });
    await finish();
    const response = await following;
    expect(response.headers['content-type']).toContain('text/event-stream');
    const frames = framesOf(response.body);
    expect(frames.map(({ type }) => type)).toEqual([
      'gradient_step',
      'gradient_step',
      'gradient_step',
      'gradient_step',
      'training_failed',
    ]);
    expect(frames[0]!.id).toBe(all[19]!.id);
    const replay = await send(server, { url: `${jobUrl}/events`, headers: { accept: 'text/event-stream' } });
    expect(framesOf(replay.body).map(({ id }) => id)).toEqual((await list('?limit=100')).data.map(({ id }) => id));
  });

  test('a finished job cannot be cancelled', async () => {
    const response = await send(server, { method: 'POST', url: `${jobUrl}/cancel` });
    expect(response.statusCode).toBe(409);
    expect(response.json()).toMatchObject({ error: { code: 'job_finished' } });
  });
});
