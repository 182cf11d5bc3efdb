// Training jobs and their events over HTTP. Jobs are not run here: events are written as the job runner writes them.
import { beforeAll, describe, expect, test } from 'vitest';
import { createId } from '#base/ids';
import { storedJob } from './stored-job.ts';
import { register, type List } from '../../support/api/registered-model.ts';
import {
  chat,
  containing,
  faults,
  matching,
  shareTestServer,
  QUEUED_JOBS_MAX,
  runScenarios,
  send,
} from '../../support/api/test-server.ts';

const server = await shareTestServer();

describe('submitting a job', () => {
  let model_id: string;
  beforeAll(async () => void (model_id = await register(server, 'trainee')));
  const url = '/v1/preview/training-jobs';

  const choice = {
    index: 0,
    finish_reason: 'stop',
    message: { role: 'assistant', content: 'yes' },
    logprobs: {
      content: [
        { token: 'token_id:7', logprob: -0.5, bytes: null, top_logprobs: [] },
        { token: 'token_id:8', logprob: null },
      ],
    },
  };
  const trajectory = { messages_and_choices: [{ role: 'user', content: 'yes or no?' }, choice], reward: 0.5 };
  /** The body of a client that sends every key, null if unset. */
  const artJob = () => ({
    model_id,
    trajectory_groups: [
      {
        trajectories: [
          {
            ...trajectory,
            tools: null,
            additional_histories: [{ messages_and_choices: [choice] }],
            metrics: { correct: true, length: 3 },
            auto_metrics: { won: 1 },
            metadata: { task: 'x' },
            logs: [],
            initial_policy_version: null,
          },
          { ...trajectory, reward: '1' },
        ],
        exceptions: [{ type: 'ValueError', message: 'no', traceback: '' }],
        metadata: {},
      },
    ],
    experimental_config: {
      learning_rate: 5e-6,
      advantage_balance: 0,
      importance_sampling_level: 'token',
      mask_prob_ratio: false,
      ppo: false,
      precalculate_logprobs: false,
      scale_rewards: true,
      epsilon: null,
      epsilon_high: null,
      kimi_k2_tau: null,
      max_negative_advantage_importance_sampling_weight: null,
      loss_fn: 'cispo',
      normalize_advantages: true,
      kl_penalty_coef: 0,
      kl_penalty_source: null,
      unheard_of: 1,
    },
  });

  test('stores what clients send, in the terms of the domain', async () => {
    const response = await send(server, { url, body: artJob() });
    expect(response.statusCode, response.body).toBe(200);
    const { id } = response.json<{ id: string }>();
    const warnings = ['experimental_config.unheard_of is not a field that this server knows: it was not used.'];
    expect(response.json()).toEqual({ id, warnings });
    const stored = await storedJob(server, id);
    expect(stored.warnings).toEqual(warnings);
    expect(stored.config).toEqual({
      learningRate: 5e-6,
      advantageBalance: 0,
      ppo: false,
      scaleRewards: true,
      importanceSamplingLevel: 'token',
      maskProbRatio: false,
      precalculateLogprobs: false,
      klPenaltyCoefficient: 0,
    });
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
    ]);
  });

  test('takes a rollout without a reward as one with reward 0, and a learning rate of 0', async () => {
    const silent = { messages_and_choices: trajectory.messages_and_choices };
    const body = {
      model_id,
      trajectory_groups: [{ trajectories: [silent, trajectory] }],
      experimental_config: { learning_rate: 0 },
    };
    const response = await send(server, { url, body });
    expect(response.statusCode, response.body).toBe(200);
    const { id } = response.json<{ id: string }>();
    const { groups, config } = await storedJob(server, id);
    expect(groups[0]!.trajectories.map(({ reward }) => reward)).toEqual([0, 0.5]);
    expect(config.learningRate).toBe(0);
    await send(server, { method: 'POST', url: `${url}/${id}/cancel` });
  });

  test('takes every setting, and refuses an unknown KL reference', async () => {
    const every = {
      learning_rate: 1e-5,
      advantage_balance: 0.5,
      epsilon: 0.2,
      epsilon_high: 0.3,
      importance_sampling_level: 'sequence',
      kimi_k2_tau: 0.1,
      mask_prob_ratio: true,
      max_negative_advantage_importance_sampling_weight: 3,
      ppo: true,
      loss_fn: 'ppo',
      precalculate_logprobs: true,
      scale_rewards: false,
      normalize_advantages: false,
      allow_training_without_logprobs: true,
      kl_penalty_coef: 0.1,
      kl_penalty_source: 'sample',
      kl_ref_adapter_path: 'default/p/trainee@0',
      logprob_calculation_chunk_size: 256,
      num_trajectories_learning_rate_multiplier_power: 0.5,
      packed_sequence_length: 1024,
      plot_tensors: true,
      scale_learning_rate_by_reward_std_dev: true,
      truncated_importance_sampling: 2,
    };
    const submit = (experimental_config: object) =>
      send(server, { url, body: { model_id, trajectory_groups: [], experimental_config } });
    const response = await submit(every);
    expect(response.statusCode, response.body).toBe(200);
    expect((await storedJob(server, response.json<{ id: string }>().id)).config).toEqual({
      learningRate: 1e-5,
      advantageBalance: 0.5,
      epsilon: 0.2,
      epsilonHigh: 0.3,
      importanceSamplingLevel: 'sequence',
      tau: 0.1,
      maskProbRatio: true,
      ratioMax: 3,
      ppo: true,
      precalculateLogprobs: true,
      scaleRewards: false,
      allowTrainingWithoutLogprobs: true,
      klPenaltyCoefficient: 0.1,
      klPenaltySource: 'sample',
      klReference: { checkpointName: 'default/p/trainee@0' },
      logprobChunkSize: 256,
      sequenceCountPower: 0.5,
      packedSequenceLength: 1024,
      scaleLearningRateByRewardStdDev: true,
      truncatedImportanceSampling: 2,
    });
    const missing = await submit({ ...every, kl_ref_adapter_path: 'default/p/nobody@3' });
    expect(missing.statusCode).toBe(404);
    expect(missing.json()).toMatchObject({ error: { code: 'checkpoint_not_found', param: 'kl_ref_adapter_path' } });
  });

  test('takes a choice of our own chat answers unchanged', async () => {
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
      id,
      type: 'rl',
      model_id,
      status: 'queued',
      created_at: matching(/^2026-06-0\dT.*Z$/),
      training_start: null,
      training_end: null,
      error_message: null,
      progress: 0,
      step: null,
      skipped: {},
    });
    expect(
      (await send(server, { url: `${url}?model_id=${model_id}&status=queued` })).json<List>().data.map((job) => job.id),
    ).toContain(id);
  });

  test('names unused fields; with nothing to name, the answer is only an id', async () => {
    const submit = async (body: object) => {
      const response = await send(server, { url, body: { model_id, trajectory_groups: [], ...body } });
      expect(response.statusCode, response.body).toBe(200);
      const { id, ...rest } = response.json<{ id: string; warnings?: string[] }>();
      await send(server, { method: 'POST', url: `${url}/${id}/cancel` });
      return rest;
    };
    expect(await submit({ experimental_config: { plot_tensors: false, beta: null } })).toEqual({
      warnings: [containing('experimental_config.beta is not')],
    });
    expect(await submit({ experimental_config: { plot_tensors: true }, learning_rate: 1 })).toEqual({
      warnings: [containing('learning_rate is not'), containing('draws no plots')],
    });
    expect(await submit({ experimental_config: { learning_rate: 1 } })).toEqual({});
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`x${i}`, i]));
    expect((await submit(many)).warnings).toHaveLength(21);
  });

  const withConfig = (config: Readonly<Record<string, unknown>>) => ({
    model_id: createId(),
    trajectory_groups: [],
    experimental_config: config,
  });
  const bad = (name: string, body: unknown, ...expected: string[]) => ({
    name,
    url,
    body,
    status: 422,
    then: (response: Parameters<typeof faults>[0]) => expect(faults(response)).toEqual(expected),
  });
  runScenarios(() => server, [
    bad('names the place of every fault', { model_id: 'x', trajectory_groups: [{}, { trajectories: [{ reward: 'high', messages_and_choices: [{ role: 'user', content: 'a' }, {}] }] }] },
      'body.model_id uuid_parsing', 'body.trajectory_groups.0.trajectories missing',
      'body.trajectory_groups.1.trajectories.0.messages_and_choices.1.role missing', 'body.trajectory_groups.1.trajectories.0.reward float_parsing'),
    bad('finds more messages than a trajectory may have', { model_id: createId(), trajectory_groups: [{ trajectories: [{ reward: 1, messages_and_choices: new Array<object>(2_001).fill({ role: 'user', content: 'a' }) }] }] },
      'body.trajectory_groups.0.trajectories.0.messages_and_choices too_long'),
    bad('finds bytes that are none', { model_id: createId(), trajectory_groups: [{ trajectories: [{ reward: 1, messages_and_choices: [{ ...choice, logprobs: { content: [{ token: 'a', logprob: -1, bytes: [256] }] } }] }] }] },
      'body.trajectory_groups.0.trajectories.0.messages_and_choices.0.logprobs.content.0.bytes bytes_type'),
    bad('finds a broken logprob', { model_id: createId(), trajectory_groups: [{ trajectories: [{ reward: 1, messages_and_choices: [{ ...choice, logprobs: { content: [{ token: 'a', logprob: 'x' }] } }] }] }] },
      'body.trajectory_groups.0.trajectories.0.messages_and_choices.0.logprobs.content.0.logprob float_type'),
    bad('refuses policy versions, logs and times of another type', { model_id: createId(), trajectory_groups: [{ logs: [1], trajectories: [{ reward: 1, messages_and_choices: [], initial_policy_version: 'x', logs: 'x', start_time: 'noon' }] }] },
      ...['initial_policy_version int_parsing', 'logs list_type', 'start_time string_pattern_mismatch'].map((fault) => `body.trajectory_groups.0.trajectories.0.${fault}`), 'body.trajectory_groups.0.logs.0 string_type'),
    bad('refuses two KL references', withConfig({ kl_penalty_coef: 0.1, kl_penalty_reference_step: 1, kl_penalty_step_lag: 2 }), 'body.experimental_config.kl_penalty_step_lag value_error'),
    bad('refuses levels and losses that do not exist', withConfig({ importance_sampling_level: 'word', loss_fn: 'dpo', kl_penalty_source: 'x' }), 'body.experimental_config.loss_fn literal_error', 'body.experimental_config.importance_sampling_level literal_error', 'body.experimental_config.kl_penalty_source literal_error'),
    bad('refuses two values of one setting', withConfig({ vendor_k2_tau: 0.1, kimi_k2_tau: 0.2 }), 'body.experimental_config.kimi_k2_tau value_error'),
    bad('refuses numbers out of range', withConfig({ epsilon: -1, epsilon_high: -1, vendor_k2_tau: -1, max_negative_advantage_importance_sampling_weight: -1, truncated_importance_sampling: -1, kl_penalty_coef: -1, kl_penalty_reference_step: -1, kl_penalty_step_lag: -1, packed_sequence_length: 0, logprob_calculation_chunk_size: 0 }), ...['epsilon', 'epsilon_high', 'max_negative_advantage_importance_sampling_weight', 'truncated_importance_sampling', 'vendor_k2_tau', 'kl_penalty_coef', 'kl_penalty_reference_step', 'kl_penalty_step_lag', 'packed_sequence_length', 'logprob_calculation_chunk_size'].map((name) => `body.experimental_config.${name} greater_than_equal`)),
    bad('refuses contradictions', withConfig({ ppo: true, loss_fn: 'cispo', scale_rewards: true, normalize_advantages: false }), 'body.experimental_config.loss_fn value_error', 'body.experimental_config.normalize_advantages value_error'),
    bad('refuses rates that cannot be', withConfig({ learning_rate: -1, advantage_balance: 2 }), 'body.experimental_config.learning_rate greater_than_equal', 'body.experimental_config.advantage_balance less_than_equal'),
    bad('refuses rates that no model survives', withConfig({ learning_rate: 1e30, num_trajectories_learning_rate_multiplier_power: 300 }), 'body.experimental_config.learning_rate less_than_equal', 'body.experimental_config.num_trajectories_learning_rate_multiplier_power less_than_equal'),
    { name: 'for an unknown model is a 404', url, body: { model_id: createId(), trajectory_groups: [] }, status: 404, answer: { error: { code: 'model_not_found' } } },
    { name: 'and reading an unknown one too', url: `${url}/${createId()}`, status: 404, answer: { error: { code: 'job_not_found' } } },
  ]); // prettier-ignore

  test('with an Idempotency-Key twice makes one job', async () => {
    const request = { url, headers: { 'idempotency-key': 'job' }, body: { model_id, trajectory_groups: [] } };
    const [first, second] = [await send(server, request), await send(server, request)];
    expect(second.json()).toEqual(first.json());
  });

  test('is refused with 429 if enough jobs are waiting', async () => {
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
    const modelId = await register(server, 'watched');
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
  const framesOf = (body: string) =>
    body
      .split('\n\n')
      .filter((frame) => frame.startsWith('id: '))
      .map((frame) => {
        const [idLine, dataLine] = frame.split('\n');
        return { id: idLine!.slice(4), ...(JSON.parse(dataLine!.slice(6)) as { type: string }) };
      });

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

  test('are followed live from the client’s position until the job ends', async () => {
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

  test('after an event that this job does not have are a 400, without a wait', async () => {
    const url = `${jobUrl}/events`;
    const stream = { accept: 'text/event-stream' };
    for (const request of [
      { url: `${url}?after=${createId()}` },
      { url: `${url}?after=${createId()}`, headers: stream },
      { url, headers: { ...stream, 'last-event-id': createId() } },
    ]) {
      const response = await send(server, request);
      expect(response.statusCode, response.body).toBe(400);
      expect(response.json()).toMatchObject({ error: { code: 'invalid_request', param: 'after' } });
    }
  });

  test('a finished job cannot be cancelled', async () => {
    const response = await send(server, { method: 'POST', url: `${jobUrl}/cancel` });
    expect(response.statusCode).toBe(409);
    expect(response.json()).toMatchObject({ error: { code: 'job_finished' } });
  });
});
