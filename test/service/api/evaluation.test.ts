// Held-out evaluation over HTTP: what a job may request, what its checkpoint answers, and the rewards of the answers.
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { deleteOldData } from '#services/jobs/data-retention';
import { silentLog } from '#base/log';
import {
  answersOf,
  ask,
  endJob,
  evaluated,
  JOBS,
  submitEvaluated,
  type AnsweredPrompt,
} from '../../support/api/evaluation-lab.ts';
import { register } from '../../support/api/registered-model.ts';
import { chat, EVALUATION_LIMITS, faults, send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();
const SETTINGS = { samples: 2, max_tokens: 6, temperature: 1 };

let model_id: string;
beforeAll(async () => void (model_id = await register(server, 'evaluated')));

async function get<T>(url: string): Promise<T> {
  const response = await send(server, { url });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<T>();
}

const log = (body: object) =>
  send(server, { url: `/v1/preview/models/${model_id}/log`, body: { split: 'val', ...body } });

const rewarded = (...rewards: number[]) => ({
  trajectories: rewards.map((reward) => ({ messages_and_choices: [], reward, metadata: { by: 'test' } })),
});

describe('an evaluation', () => {
  test('answers each prompt with as many samples as a chat request would, once the checkpoint exists', async () => {
    const prompts = [ask('One?'), { ...ask('Two?'), metadata: { task: 2 } }];
    const id = await submitEvaluated(server, model_id, { ...SETTINGS, prompts, seed: 5 });
    expect((await answersOf(server, id)).map(({ answers }) => answers)).toEqual([null, null]);
    const step = await endJob(server, id);
    await evaluated(server, id);
    const answers = await answersOf(server, id);
    for (const [p, { messages, answers: given }] of answers.entries()) {
      const asked = chat({
        model: `p/evaluated:step${step}`,
        messages,
        n: 2,
        max_tokens: 6,
        temperature: 1,
        seed: 5 + 2 * p,
      });
      const answered = await send(server, { url: '/v1/chat/completions', body: { ...asked, return_token_ids: true } });
      const { choices } = answered.json<{ choices: { message: { content: string }; token_ids: number[] }[] }>();
      expect(given!.map(({ token_ids }) => token_ids)).toEqual(choices.map(({ token_ids }) => token_ids));
      expect(given!.map(({ message }) => message.content)).toEqual(choices.map(({ message }) => message.content));
      for (const { token_ids, logprobs, finish_reason } of given!) {
        expect(logprobs).toHaveLength(token_ids.length);
        expect(Math.max(...logprobs)).toBeLessThanOrEqual(0);
        expect(['stop', 'length']).toContain(finish_reason);
      }
    }
    expect(answers).toMatchObject([{ id: '0' }, { id: '1', metadata: { task: 2 } }]);
    expect(await get(`${JOBS}/${id}/evaluation`)).toMatchObject({
      status: 'succeeded',
      num_prompts: 2,
      num_samples: 2,
      num_answered: 2,
      num_failed: 0,
      training_job_id: id,
      model_id,
      step,
      source: null,
      settings: { samples: 2, max_tokens: 6, temperature: 1, seed: 5 },
      log: null,
    });
    expect(await get(`${JOBS}/${id}`)).toMatchObject({ evaluation: { status: 'succeeded' }, warnings: [] });
  });

  test('has its prompts read once for the pages of its answers', async () => {
    const id = await submitEvaluated(server, model_id, { ...SETTINGS, prompts: [ask('One?'), ask('Two?')] });
    const find = vi.spyOn(server.blobs, 'find');
    onTestFinished(() => find.mockRestore());
    await get(`${JOBS}/${id}/evaluation`);
    const first = await get<{ has_more: boolean }>(`${JOBS}/${id}/evaluation/answers?limit=1`);
    expect(first.has_more).toBe(true);
    await get(`${JOBS}/${id}/evaluation/answers?limit=1&after=0`);
    expect(find.mock.calls.filter(([name]) => name.endsWith('/request.json'))).toHaveLength(1);
    await endJob(server, id);
    await evaluated(server, id);
  });

  test('draws the same random numbers for every checkpoint, unless it has a seed', async () => {
    const texts: string[][] = [];
    for (const seed of [undefined, undefined, 7]) {
      const id = await submitEvaluated(server, model_id, { ...SETTINGS, prompts: [ask('Same?')], seed });
      await endJob(server, id);
      await evaluated(server, id);
      texts.push((await answersOf(server, id))[0]!.answers!.map(({ token_ids }) => token_ids.join()));
    }
    expect(texts[1]).toEqual(texts[0]);
    expect(texts[2]).not.toEqual(texts[0]);
  });

  test('reads its prompts from an artifact when the job is submitted, and keeps fields of the data as a reference', async () => {
    const file = '/v1/artifacts/default/p/held-out/val.jsonl';
    const lines = [
      {
        messages: [
          { role: 'user', content: 'Four?' },
          { role: 'assistant', content: '4' },
        ],
      },
      ask('Five?'),
    ];
    const body = lines.map((line) => JSON.stringify(line)).join('\n\n');
    expect((await send(server, { method: 'PUT', url: file, body })).statusCode).toBe(201);
    const prompts_url = 'wandb-artifact:///default/p/held-out:latest';
    const id = await submitEvaluated(server, model_id, { ...SETTINGS, prompts_url });
    await send(server, { method: 'DELETE', url: '/v1/artifacts/default/p/held-out' });
    await endJob(server, id);
    await evaluated(server, id);
    expect(await answersOf(server, id)).toMatchObject([
      { messages: [{ content: 'Four?' }], reference: { role: 'assistant', content: '4' }, answers: [{}, {}] },
      { messages: [{ content: 'Five?' }], reference: null, answers: [{}, {}] },
    ]);
    expect(await get(`${JOBS}/${id}/evaluation`)).toMatchObject({ source: 'default/p/held-out:v0 val.jsonl' });
  });

  test('reports why a prompt that is too long has no answers, and answers the others', async () => {
    const prompts = [ask('word '.repeat(600)), ask('Short?')];
    const id = await submitEvaluated(server, model_id, { ...SETTINGS, prompts });
    await endJob(server, id);
    await evaluated(server, id);
    const [long, short] = await answersOf(server, id);
    expect(long).toMatchObject({ answers: [], error: expect.stringContaining('maximum context length') as string });
    expect(short).toMatchObject({ answers: [{}, {}], error: null });
    expect(await get(`${JOBS}/${id}`)).toMatchObject({
      status: 'succeeded',
      evaluation: { status: 'succeeded', num_answered: 2, num_failed: 1 },
      warnings: ['The evaluation could not answer 1 of 2 prompts.'],
    });
  });

  test('fails alone if its checkpoint was deleted, and says so', async () => {
    const id = await submitEvaluated(server, model_id, { ...SETTINGS, prompts: [ask('Gone?')] });
    const step = await endJob(server, id);
    await send(server, {
      method: 'DELETE',
      url: `/v1/preview/models/${model_id}/checkpoints`,
      body: { steps: [step] },
    });
    await evaluated(server, id);
    expect(await get(`${JOBS}/${id}`)).toMatchObject({
      status: 'succeeded',
      error_message: null,
      evaluation: {
        status: 'failed',
        error_message: 'The checkpoint was deleted before it had answered every prompt.',
      },
      warnings: ['The evaluation failed: The checkpoint was deleted before it had answered every prompt.'],
    });
  });

  test('is listed with the others of its model, newest first on request', async () => {
    const own = await register(server, 'evaluated-thrice');
    const ids: string[] = [];
    for (const content of ['a', 'b', 'c'])
      ids.push(await submitEvaluated(server, own, { ...SETTINGS, prompts: [ask(content)] }));
    const step = await endJob(server, ids[0]!);
    const url = `/v1/preview/models/${own}/evaluations`;
    const { data } = await get<{ data: { id: string; step: number | null; status: string }[] }>(url);
    expect(data.map(({ id }) => id).sort()).toEqual(ids.toSorted());
    expect(data.find(({ id }) => id === ids[0])).toMatchObject({
      step,
      status: 'queued',
      num_prompts: 1,
      num_samples: 2,
    });
    const newest = await get<{ data: { id: string }[]; has_more: boolean }>(`${url}?order=desc&limit=2`);
    expect(newest).toMatchObject({ data: [{ id: data[2]!.id }, { id: data[1]!.id }], has_more: true });
    expect((await send(server, { url: `${url}?after=nothing` })).statusCode).toBe(400);
    expect((await send(server, { url: url.replace(own, ids[0]!) })).statusCode).toBe(404);
    for (const id of ids.slice(1)) await send(server, { method: 'POST', url: `${JOBS}/${id}/cancel` });
  });

  test('is listed in pages', async () => {
    const id = await submitEvaluated(server, model_id, { ...SETTINGS, prompts: ['a', 'b', 'c'].map(ask) });
    const url = `${JOBS}/${id}/evaluation/answers`;
    const pages = await Promise.all(
      ['?limit=2', '?limit=2&after=1', '?after=2'].map((query) =>
        get<{ data: AnsweredPrompt[]; has_more: boolean }>(`${url}${query}`),
      ),
    );
    expect(pages.map(({ data, has_more }) => [data.map(({ messages }) => messages[0]!.content), has_more])).toEqual([
      [['a', 'b'], true],
      [['c'], false],
      [[], false],
    ]);
    for (const after of ['3', 'x']) expect((await send(server, { url: `${url}?after=${after}` })).statusCode).toBe(400);
    await send(server, { method: 'POST', url: `${JOBS}/${id}/cancel` });
  });
});

describe('rewards', () => {
  test('are returned with the answers, and their mean in the history of the step that answered', async () => {
    const id = await submitEvaluated(server, model_id, { ...SETTINGS, prompts: [ask('Six?'), ask('Seven?')] });
    const step = await endJob(server, id);
    await evaluated(server, id);
    const later = await submitEvaluated(server, model_id, { ...SETTINGS, prompts: [ask('Later')] });
    await endJob(server, later); // by now another checkpoint is the latest
    server.clock.advance(1_000);
    await log({ evaluation_job_id: id, trajectory_groups: [rewarded(0, 0), rewarded(0, 0)] });
    server.clock.advance(1_000);
    const response = await log({ evaluation_job_id: id, trajectory_groups: [rewarded(1, 0), rewarded(0.5, 0.5)] });
    expect(response.json()).toMatchObject({ step, metrics: { 'val/reward': 0.5 } });
    expect((await answersOf(server, id)).map(({ answers }) => answers!.map(({ reward }) => reward))).toEqual([
      [1, 0],
      [0.5, 0.5],
    ]);
    const second = await get<{ data: object[] }>(`${JOBS}/${id}/evaluation/answers?after=0`);
    expect(second.data).toMatchObject([{ answers: [{ reward: 0.5, reward_metadata: { by: 'test' } }, {}] }]);
    const logs = await get<{ data: { id: string }[] }>(`/v1/preview/models/${model_id}/logs?step=${step}`);
    expect(logs.data).toMatchObject([{ evaluation_job_id: id }, { evaluation_job_id: id, split: 'val' }]);
    expect(await get(`${JOBS}/${id}/evaluation`)).toMatchObject({ log: { id: logs.data[1]!.id, split: 'val' } });
    const history = await get<{ data: { step: number; metrics: object }[] }>(`/v1/preview/models/${model_id}/metrics`);
    expect(history.data.find((each) => each.step === step)?.metrics).toMatchObject({ 'val/reward': 0.5 });
    expect(history.data.find((each) => each.step === step + 1)?.metrics).not.toHaveProperty('val/reward');
  });

  test('must match the prompts and answers, and the model', async () => {
    const waiting = await submitEvaluated(server, model_id, { ...SETTINGS, prompts: [ask('Waits')] });
    expect((await log({ evaluation_job_id: waiting, trajectory_groups: [rewarded(1, 1)] })).statusCode).toBe(400);
    const step = await endJob(server, waiting);
    await evaluated(server, waiting);
    for (const [body, status] of [
      [{ trajectory_groups: [rewarded(1, 1), rewarded(1, 1)] }, 400],
      [{ trajectory_groups: [rewarded(1)] }, 400],
      [{ trajectory_groups: [rewarded(1, 1)], step: step - 1 }, 400],
      [{ trajectory_groups: [rewarded(1, 1)], evaluation_job_id: '00000000-0000-4000-8000-000000000000' }, 404],
      [{ trajectory_groups: [rewarded()], step }, 200],
    ] as const) {
      const response = await log({ evaluation_job_id: waiting, ...body });
      expect(response.statusCode, response.body).toBe(status);
    }
    const other = await register(server, 'evaluates-nothing');
    const elsewhere = await send(server, {
      url: `/v1/preview/models/${other}/log`,
      body: { split: 'val', evaluation_job_id: waiting, trajectory_groups: [rewarded(1, 1)] },
    });
    expect(elsewhere.statusCode).toBe(404);
  });

  test('of trajectories without an evaluation may name their step', async () => {
    expect((await log({ step: 0, trajectory_groups: [rewarded(1)] })).json()).toMatchObject({ step: 0 });
    expect((await log({ step: 99_999, trajectory_groups: [rewarded(1)] })).statusCode).toBe(404);
  });
});

describe('a request', () => {
  const asked = (evaluation: unknown, more: object = {}) =>
    send(server, { url: JOBS, body: { model_id, trajectory_groups: [], evaluation, ...more } });

  test.each([
    ['neither prompts nor an artifact', {}, ['body.evaluation value_error']],
    ['both', { prompts: [ask('x')], prompts_url: 'wandb-artifact:///a/b/c' }, ['body.evaluation value_error']],
    ['a file of no artifact', { prompts: [ask('x')], file: 'x.jsonl' }, ['body.evaluation.file value_error']],
    ['no artifact', { prompts_url: 'http://x' }, ['body.evaluation.prompts_url value_error']],
    ['a prompt that says nothing', { prompts: [{ messages: [] }] }, ['body.evaluation.prompts.0.messages value_error']],
    [
      'an answer only',
      { prompts: [{ messages: [{ role: 'assistant', content: 'x' }] }] },
      ['body.evaluation.prompts.0.messages value_error'],
    ],
    ['no samples', { prompts: [ask('x')], samples: 0 }, ['body.evaluation.samples greater_than_equal']],
    [
      'metadata that is a text',
      { prompts: [{ ...ask('x'), metadata: 'task 7' }] },
      ['body.evaluation.prompts.0.metadata dict_type'],
    ],
  ])('with %s is refused', async (_, evaluation, expected) => {
    const response = await asked(evaluation);
    expect(response.statusCode, response.body).toBe(422);
    expect(faults(response)).toEqual(expected);
  });

  test.each([
    ['prompts', { prompts: Array.from({ length: EVALUATION_LIMITS.promptsMax + 1 }, () => ask('x')), max_tokens: 1 }],
    ['samples', { prompts: [ask('x')], samples: EVALUATION_LIMITS.samplesMax + 1 }],
    ['tokens', { prompts: [ask('x')], max_tokens: EVALUATION_LIMITS.tokensMax + 1 }],
    ['text', { prompts: [ask('x'.repeat(EVALUATION_LIMITS.promptBytesMax))], max_tokens: 1 }],
    ['nothing', { prompts: [] }],
  ])('over the limits of %s is refused, and makes no job', async (_, evaluation) => {
    const before = await get<{ data: unknown[] }>(`${JOBS}?model_id=${model_id}&limit=100`);
    const response = await asked(evaluation);
    expect(response.statusCode, response.body).toBe(400);
    expect(await get(`${JOBS}?model_id=${model_id}&limit=100`)).toEqual(before);
  });

  test('with a line that is not a prompt gets an error with its number', async () => {
    const body = `${JSON.stringify(ask('fine'))}\n{"messages": 3}\n`;
    await send(server, { method: 'PUT', url: '/v1/artifacts/default/p/broken/prompts.jsonl', body });
    const response = await asked({ prompts_url: 'wandb-artifact:///default/p/broken', max_tokens: 1 });
    expect(response.statusCode).toBe(400);
    expect(response.body).toContain('prompts.jsonl line 2 of broken:v0: messages');
    expect((await asked({ prompts_url: 'wandb-artifact:///default/p/none', max_tokens: 1 })).statusCode).toBe(404);
    expect((await asked({ prompts_url: 'wandb-artifact:///others/p/broken', max_tokens: 1 })).statusCode).toBe(404);
  });

  test('gets a warning about unused fields', async () => {
    const response = await asked({ prompts: [ask('x')], max_tokens: 1, temprature: 0 });
    expect(response.json()).toMatchObject({
      warnings: ['evaluation.temprature is not a field that this server knows: it was not used.'],
    });
    await send(server, { method: 'POST', url: `${JOBS}/${response.json<{ id: string }>().id}/cancel` });
  });

  test('of SFT may include one too', async () => {
    await send(server, { method: 'PUT', url: '/v1/artifacts/default/p/rows/train.jsonl', body: '{}' });
    const training_data_url = 'wandb-artifact:///default/p/rows';
    const evaluation = {
      ...SETTINGS,
      prompts: [{ ...ask('Imitate?'), metadata: { id: 12345678901234567890n.toString() } }],
    };
    const response = await send(server, {
      url: '/v1/preview/sft-training-jobs',
      body: { model_id, training_data_url, evaluation },
    });
    expect(response.statusCode, response.body).toBe(200);
    const { id } = response.json<{ id: string }>();
    await endJob(server, id);
    await evaluated(server, id);
    expect(await answersOf(server, id)).toMatchObject([{ answers: [{}, {}] }]);
  });
});

describe('the end', () => {
  test('a job without an evaluation has none, and a cancelled job that makes no checkpoint has a cancelled evaluation', async () => {
    const none = await send(server, { url: JOBS, body: { model_id, trajectory_groups: [] } });
    const { id } = none.json<{ id: string }>();
    expect(await get(`${JOBS}/${id}`)).toMatchObject({ evaluation: null });
    for (const path of ['', '/answers'])
      expect((await send(server, { url: `${JOBS}/${id}/evaluation${path}` })).statusCode).toBe(404);
    await send(server, { method: 'POST', url: `${JOBS}/${id}/cancel` });
    const cancelled = await submitEvaluated(server, model_id, { ...SETTINGS, prompts: [ask('Never')] });
    await send(server, { method: 'POST', url: `${JOBS}/${cancelled}/cancel` });
    expect(await get(`${JOBS}/${cancelled}`)).toMatchObject({
      status: 'cancelled',
      evaluation: { status: 'cancelled' },
    });
  });

  test('an evaluation may be cancelled without its job, once', async () => {
    const id = await submitEvaluated(server, model_id, { ...SETTINGS, prompts: [ask('Never')] });
    const cancel = () => send(server, { method: 'POST', url: `${JOBS}/${id}/evaluation/cancel` });
    expect((await cancel()).json()).toMatchObject({ status: 'cancelled', num_answered: 0 });
    expect((await cancel()).statusCode).toBe(409);
    await endJob(server, id);
    expect(await get(`${JOBS}/${id}`)).toMatchObject({ status: 'succeeded', evaluation: { status: 'cancelled' } });
  });

  test('expired answers are deleted, and the record says so', async () => {
    const id = await submitEvaluated(server, model_id, { ...SETTINGS, prompts: [ask('Old')] });
    await endJob(server, id);
    await evaluated(server, id);
    const { storage, blobs, clock } = server;
    server.clock.advance(10_000);
    await deleteOldData({ storage, blobs, clock, log: silentLog, keepMs: 1_000 });
    expect(await blobs.list('evaluations')).toEqual([]);
    expect((await send(server, { url: `${JOBS}/${id}/evaluation/answers` })).statusCode).toBe(404);
    expect(await get(`${JOBS}/${id}/evaluation`)).toMatchObject({ status: 'succeeded', settings: null });
  });

  test('deleting a model deletes its answers', async () => {
    const gone = await register(server, 'goes');
    const id = await submitEvaluated(server, gone, { ...SETTINGS, prompts: [ask('Bye')] });
    await endJob(server, id);
    await evaluated(server, id);
    expect(await server.blobs.list(`evaluations/${gone}`)).toHaveLength(2);
    await send(server, { method: 'DELETE', url: `/v1/preview/models/${gone}` });
    expect(await server.blobs.list(`evaluations/${gone}`)).toEqual([]);
    expect(await server.storage.evaluations.find(id)).toBeNull();
  });
});
