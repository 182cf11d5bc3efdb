// Checkpoints over HTTP: listing, calling, downloading and deleting them. The tests write them as the job runner does.
import { extract } from 'tar-stream';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createId } from '#base/ids';
import { register, type List } from '../../support/api/registered-model.ts';
import { BASE, chat, containing, faults, shareTestServer, runScenarios, send } from '../../support/api/test-server.ts';

const server = await shareTestServer();

describe('checkpoints', () => {
  let id: string;
  beforeAll(async () => {
    id = await register(server, 'stepper');
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
      const job = await jobs.claim('test', step, 1, null);
      await jobs.finish(job!.id, job!.attempt, {
        status: 'succeeded',
        errorMessage: null,
        endedAtMs: step,
        event: { id: createId(), jobId: job!.id, ordinal: 0, type: 'training_ended', data: {}, createdAtMs: step },
        checkpoint: {
          id: createId(),
          modelId: id,
          step,
          metrics: {},
          blobPrefix: prefix(step),
          fresh: false,
          createdAtMs: step,
        },
      });
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

  test('in descending order continue after the cursor with smaller steps', async () => {
    const first = await list('?order=desc&limit=1');
    expect(first.data[0]!.step).toBe(24);
    expect((await list(`?order=desc&limit=2&after=${first.last_id}`)).data.map(({ step }) => step)).toEqual([23, 22]);
  });

  test('after an unknown item get a 400 in every list, because an empty page would look like the end', async () => {
    const gone = await register(server, 'listed-and-gone');
    const before = (await send(server, { url: '/v1/preview/models?limit=1' })).json<List>();
    expect(before.has_more).toBe(true);
    await send(server, { method: 'DELETE', url: `/v1/preview/models/${gone}` });
    for (const url of [
      `/v1/preview/models?after=${gone}`,
      `/v1/preview/models/${id}/checkpoints?after=${gone}`,
      `/v1/preview/models/${id}/checkpoints?order=desc&after=${gone}`,
      `/v1/preview/training-jobs?after=${gone}`,
      `/v1/artifacts?after=${gone}`,
      `/v1/usage?after=${gone}`,
    ]) {
      const response = await send(server, { url });
      expect(response.statusCode, url).toBe(400);
      expect(response.json()).toMatchObject({
        detail: containing(`no item "${gone}"`),
        error: { code: 'invalid_request', param: 'after' },
      });
    }
  });

  test('are called by step, several at once, under the name that answers', async () => {
    const answering = async (model: string) =>
      (await send(server, { url: '/v1/chat/completions', body: chat({ model }) })).json<{ model: string }>().model;
    const stepper = 'wandb-artifact:///default/p/stepper';
    const names = ['default/p/stepper@1', 'p/stepper:step2', `${stepper}:v3`, 'default/p/stepper', 'p/stepper:latest'];
    expect(await Promise.all(names.map(answering))).toEqual([1, 2, 3, 24, 24].map((step) => `${stepper}:step${step}`));
  });

  test('are listed among the models of the OpenAI API, and can be read by name', async () => {
    const list = async (query: string) => {
      const { data, has_more: hasMore } = (await send(server, { url: `/v1/models${query}` })).json<List>();
      return { ids: data.map((model) => model.id), hasMore };
    };
    const stepper = 'wandb-artifact:///default/p/stepper';
    const { ids } = await list('');
    expect(ids[0]).toBe(BASE);
    expect(ids.filter((each) => each.includes('stepper'))).toEqual([stepper]); // one line a model
    expect(await list(`?limit=1&after=${BASE}`)).toEqual({ ids: [ids[1]], hasMore: ids.length > 2 });
    expect(await list(`?after=${ids.at(-1)!}`)).toEqual({ ids: [], hasMore: false });
    const steps = await list('?steps_of=p/stepper');
    expect(steps.ids.slice(0, 2)).toEqual([`${stepper}:step24`, `${stepper}:step23`]);
    const rest = await list(`?steps_of=p/stepper&limit=2&after=${stepper}:step3`);
    expect(rest).toEqual({ ids: [`${stepper}:step2`, `${stepper}:step1`], hasMore: true });
    for (const [query, status] of [
      ['?steps_of=p/unknown', 404],
      ['?steps_of=p/stepper&after=p/stepper', 400],
      ['?after=p/unknown', 400],
    ] as const)
      expect((await send(server, { url: `/v1/models${query}` })).statusCode, query).toBe(status);
    for (const name of [stepper, ...steps.ids.slice(0, 2)]) {
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

  test('of a model with a name of any script are downloaded too', async () => {
    const url = `/v1/preview/models/${await register(server, '模型', 'проект')}/checkpoints/0/download`;
    const { statusCode, headers } = await send(server, { url });
    expect([statusCode, headers['content-disposition']]).toEqual([
      200,
      `attachment; filename="__-step0.tar"; filename*=UTF-8''${encodeURIComponent('模型-step0.tar')}`,
    ]);
  });

  test('are deleted by a request with a body, which returns their number and may be repeated', async () => {
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

  test('get the metrics of logged trajectories, on the latest step', async () => {
    const group = {
      trajectories: [
        { messages_and_choices: [], reward: 1, metrics: { speed: 3, not_measured: null } },
        { messages_and_choices: [], reward: 0, metrics: { speed: null } },
      ],
    };
    const response = await send(server, {
      url: `/v1/preview/models/${id}/log`,
      body: { model_id: id, split: 'val', trajectory_groups: [group] },
    });
    const { metrics } = response.json<{ metrics: object }>();
    expect(response.json()).toMatchObject({ step: 24, metrics: { 'val/reward': 0.5, 'val/speed': 3 } });
    expect(metrics).not.toHaveProperty('val/not_measured');
    const otherModel = await send(server, {
      url: `/v1/preview/models/${id}/log`,
      body: { model_id: createId(), split: 'val', trajectory_groups: [group] },
    });
    expect([otherModel.statusCode, faults(otherModel)]).toEqual([422, ['body.model_id value_error']]);
    expect((await list('?order=desc&limit=1')).data[0]).toMatchObject({ metrics: { 'val/reward': 0.5 } });
  });

  test('with more metric names than a checkpoint may have are refused, logged or of a job', async () => {
    const named = (prefix: string) => Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [prefix + i, 1]));
    const trajectories = ['a', 'b'].map((prefix) => ({ messages_and_choices: [], metrics: named(prefix) }));
    const trajectory_groups = [{ trajectories }];
    for (const [url, body] of [
      [`/v1/preview/models/${id}/log`, { split: 'val', trajectory_groups }],
      ['/v1/preview/training-jobs', { model_id: id, trajectory_groups }],
    ] as const) {
      const response = await send(server, { url, body });
      expect([response.statusCode, response.body]).toEqual([400, expect.stringContaining('10000 names of metrics')]);
    }
  });

  test('with more metric names than a checkpoint may have are refused, however many requests sent them', async () => {
    const log = (prefix: string, count: number) => {
      const metrics = Object.fromEntries(Array.from({ length: count }, (_, i) => [prefix + i, 1]));
      const groups = [{ trajectories: [{ messages_and_choices: [], metrics }] }];
      return send(server, {
        url: `/v1/preview/models/${id}/log`,
        body: { split: 'many', step: 23, trajectory_groups: groups },
      });
    };
    expect((await log('a', 6_000)).statusCode).toBe(200);
    const logs = async () => {
      const page = { after: null, limit: 100 };
      return (await server.storage.trajectoryLogs.list({ modelId: id, split: 'many' }, page)).rows.length;
    };
    expect((await log('a', 6_000)).statusCode).toBe(200);
    const before = await logs();
    const refused = await log('b', 6_000);
    expect(refused.statusCode).toBe(400);
    expect(refused.json()).toMatchObject({
      error: { message: containing('more than 10000 metrics (1200') },
    });
    expect(await logs()).toBe(before);
    expect((await log('x'.repeat(400), 550)).statusCode).toBe(200);
    const wide = await log('y'.repeat(400), 550);
    expect(wide.json()).toMatchObject({ error: { message: containing('more than 500000') } });
  });

  runScenarios(
    () => server,
    [
      ...['0', '101', '-1', 'x'].map((limit) => ({
        name: `limit ${limit} is refused`,
        url: `/v1/preview/models?limit=${limit}`,
        status: 422,
        answer: { detail: [{ loc: ['query', 'limit'] }] },
      })),
      {
        name: 'an unknown order is refused',
        url: `/v1/preview/models/x/checkpoints?order=up`,
        status: 422,
        answer: { detail: [{ loc: ['query', 'order'], type: 'literal_error', ctx: { expected: "'asc' or 'desc'" } }] },
      },
      {
        name: 'of an unknown model are a 404',
        url: `/v1/preview/models/${createId()}/checkpoints`,
        status: 404,
        answer: { error: { code: 'model_not_found' } },
      },
      ...['best', '1.0', '+1', '%205', '-1', '9'.repeat(20)].map((step) => ({
        name: `a step ${step} is refused`,
        url: `/v1/preview/models/x/checkpoints/${step}/download`,
        status: 422,
        answer: { detail: [{ loc: ['path', 'step'], msg: containing('`latest`') }] },
      })),
      {
        name: 'false is not a step: step 0 stays',
        method: 'DELETE',
        url: `/v1/preview/models/x/checkpoints`,
        body: { steps: [false] },
        status: 422,
        answer: { detail: [{ loc: ['body', 'steps', 0], type: 'int_type' }] },
      },
    ],
  );

  test('are deleted with their model, once', async () => {
    const gone = await register(server, 'gone');
    const request = { method: 'DELETE' as const, url: `/v1/preview/models/${gone}` };
    expect((await send(server, request)).json()).toEqual({
      model_id: gone,
      deleted_checkpoints: 1,
      deleted_run: false,
    });
    expect((await send(server, request)).statusCode).toBe(404);
    expect(await server.blobs.list(`checkpoints/${gone}`)).toEqual([]);
  });

  test.each([
    ['a job', '/v1/preview/training-jobs', 'jobs'],
    ['a log', '/v1/preview/models/ID/log', 'logs'],
  ])('%s of a model that is deleted while its body is stored is a 404, and leaves nothing', async (_, path, stored) => {
    const gone = await register(server, `gone-${stored}`);
    const before = await server.blobs.list(stored);
    const put = server.blobs.put.bind(server.blobs);
    const deleting = vi.spyOn(server.blobs, 'put').mockImplementationOnce(async (...body) => {
      const written = await put(...body);
      await send(server, { method: 'DELETE', url: `/v1/preview/models/${gone}` });
      return written;
    });
    onTestFinished(() => deleting.mockRestore());
    const url = path.replace('ID', gone);
    const response = await send(server, { url, body: { model_id: gone, split: 'val', trajectory_groups: [] } });
    expect([response.statusCode, response.json<{ error: { code: string } }>().error.code]).toEqual([
      404,
      'model_not_found',
    ]);
    expect(await server.blobs.list(stored)).toEqual(before);
  });
});
