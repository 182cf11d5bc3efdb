// Models over HTTP: registering them, and what other entities can see.
import { describe, expect, test } from 'vitest';
import { createId } from '#base/ids';
import { register, type List } from '../../support/api/registered-model.ts';
import {
  BASE,
  chat,
  containing,
  faults,
  matching,
  shareTestServer,
  runScenarios,
  send,
} from '../../support/api/test-server.ts';

const server = await shareTestServer();

async function strangerHeaders(): Promise<Record<string, string>> {
  const { secret } = await server.apiKeys.create({ entity: `team-${createId().slice(0, 8)}`, name: 'stranger' });
  return { authorization: `Bearer ${secret}` };
}

test('GET /v1/models has the context length of every name, and no model whose base is not hosted here', async () => {
  const now = Date.now();
  const id = createId();
  const model = { id, ...{ entity: 'default', project: 'p', name: 'elsewhere', baseModel: 'other/base', runId: null } };
  const stepZero = { id: createId(), modelId: id, step: 0, metrics: {}, blobPrefix: `x/${id}`, fresh: true };
  await server.storage.models.create({ ...model, createdAtMs: now }, { ...stepZero, createdAtMs: now });
  await register(server, 'listed');
  const list = (await send(server, { url: '/v1/models' })).json<{ data: { id: string; max_model_len: number }[] }>();
  const base = list.data.find((each) => each.id === BASE)!;
  expect(base.max_model_len).toBeGreaterThan(0);
  expect(list.data.every(({ max_model_len: length }) => length === base.max_model_len)).toBe(true);
  const names = list.data.map((each) => each.id).join();
  expect(names).toContain('p/listed');
  expect(names).not.toContain('elsewhere');
  expect((await send(server, { url: '/v1/models/default/p/elsewhere' })).json()).toMatchObject({
    error: { message: containing('does not host a base model `other/base`') },
  });
});

describe('registering a model', () => {
  const body = { entity: null, project: 'p', name: 'agent', base_model: BASE, return_existing: true };

  test('returns the caller’s entity, a run_id of null, and a step 0 that can be called', async () => {
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

  test('that exists with a different from_checkpoint returns it unchanged, and says so; unknown fields are named', async () => {
    const again = { ...body, from_checkpoint: 'default/p/agent@0', colour: 'red' };
    const { id, warnings } = (await send(server, { url: '/v1/preview/models', body: again })).json<{
      id: string;
      warnings: string[];
    }>();
    expect(id).toBe((await server.storage.models.findByName('default', 'p', 'agent'))!.id);
    expect(warnings).toEqual([containing('colour is not a field'), containing('from_checkpoint was not used')]);
  });

  test('twice with return_existing returns the same model', async () => {
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
      name: 'without a name is refused',
      url: '/v1/preview/models',
      body: { project: 'p', base_model: BASE },
      status: 422,
      answer: { detail: [{ loc: ['body', 'name'], type: 'missing', input: { project: 'p' } }] },
    },
    { name: 'refuses a name that would be shown as another one', url: '/v1/preview/models', body: { ...body, name: 'a\u202eb' }, status: 422, answer: { detail: [{ loc: ['body', 'name'], msg: containing('direction of writing') }] } },
    { name: 'refuses a name with an escape', url: '/v1/preview/models', body: { ...body, project: 'a\u001b[2J' }, status: 422, answer: { detail: [{ loc: ['body', 'project'], msg: containing('control characters') }] } },
    { name: 'refuses a name that is a path', url: '/v1/preview/models', body: { ...body, name: '..' }, status: 422, answer: { detail: [{ loc: ['body', 'name'], msg: containing('must not be . or ..') }] } },
    { name: 'refuses a name that would make model names ambiguous', url: '/v1/preview/models', body: { ...body, name: 'a/b:c' }, status: 422, then: (r) => expect(faults(r)).toEqual(['body.name value_error']) },
  ]); // prettier-ignore

  test('from a checkpoint makes a fork: step 0 is its copy, with its metrics, and can be called at once', async () => {
    const source = await register(server, 'forked');
    const step = (await server.storage.checkpoints.findLatest(source))!;
    await server.storage.checkpoints.mergeMetrics(step.id, { 'val/reward': 0.5 });
    const fork = (from_checkpoint: string, name: string) =>
      send(server, { url: '/v1/preview/models', body: { ...body, name, from_checkpoint } });
    const response = await fork('default/p/forked@0', 'fork');
    expect(response.statusCode, response.body).toBe(200);
    const { id } = response.json<{ id: string }>();
    const copy = (await server.storage.checkpoints.findLatest(id))!;
    expect(copy).toMatchObject({ step: 0, metrics: { 'val/reward': 0.5 } });
    const files = (blobPrefix: string) =>
      server.blobs
        .list(blobPrefix)
        .then((list) => list.map(({ name, sizeBytes }) => [name.split('/').at(-1), sizeBytes]));
    expect(await files(copy.blobPrefix)).toEqual(await files(step.blobPrefix));
    expect(
      (await send(server, { url: '/v1/chat/completions', body: chat({ model: 'default/p/fork' }) })).statusCode,
    ).toBe(200);
    await send(server, { method: 'DELETE', url: `/v1/preview/models/${source}` });
    expect(await files(copy.blobPrefix)).not.toEqual([]); // a copy, not a reference
    const missing = await fork('default/p/forked@0', 'fork-of-nothing');
    expect(missing.statusCode).toBe(404);
    expect(missing.json()).toMatchObject({ error: { code: 'checkpoint_not_found', param: 'from_checkpoint' } });
  });

  test('with lora makes that adapter, which is read back; the error for a repeat with another adapter names the existing one', async () => {
    const lora = { r: 2, lora_alpha: 6, target_modules: ['v_proj', 'q_proj'], use_rslora: true, seed: 5 };
    const asked = { ...body, name: 'low-rank', lora };
    const made = await send(server, { url: '/v1/preview/models', body: asked });
    expect(made.statusCode, made.body).toBe(200);
    const { id } = made.json<{ id: string }>();
    expect((await send(server, { url: `/v1/preview/models/${id}` })).json()).toMatchObject({
      id,
      lora: { r: 2, lora_alpha: 6, target_modules: ['q_proj', 'v_proj'], use_rslora: true },
    });
    const again = (change: object) =>
      send(server, { url: '/v1/preview/models', body: { ...asked, lora: { ...lora, ...change } } });
    expect((await again({})).json()).not.toHaveProperty('warnings');
    expect((await again({ r: 4 })).json()).toMatchObject({
      id,
      warnings: [containing('lora was not used: the model existed already, with r 2, lora_alpha 6, use_rslora true')],
    });
    const fork = { ...body, name: 'low-rank-fork', from_checkpoint: 'p/low-rank@0' };
    const forked = (await send(server, { url: '/v1/preview/models', body: fork })).json<{ id: string }>();
    expect((await send(server, { url: `/v1/preview/models/${forked.id}` })).json()).toMatchObject({ lora: { r: 2 } });
  });

  test('with lora on the head makes an adapter of the head and the other named modules', async () => {
    const asked = { ...body, name: 'on-head', lora: { r: 2, target_modules: ['lm_head', 'q_proj'] } };
    const made = await send(server, { url: '/v1/preview/models', body: asked });
    expect(made.statusCode, made.body).toBe(200);
    const { id } = made.json<{ id: string }>();
    expect((await send(server, { url: `/v1/preview/models/${id}` })).json()).toMatchObject({
      lora: { r: 2, target_modules: ['q_proj', 'lm_head'] },
    });
  });

  test('with only a rank keeps the other defaults', async () => {
    const asked = { ...body, name: 'rank-1', lora: { r: 1 } };
    const { id } = (await send(server, { url: '/v1/preview/models', body: asked })).json<{ id: string }>();
    expect((await send(server, { url: `/v1/preview/models/${id}` })).json()).toMatchObject({
      lora: {
        r: 1,
        lora_alpha: 16,
        use_rslora: false,
        target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
      },
    });
  });

  const refusedLora = (lora: object, status: number, answer: object) => ({
    name: `with lora ${JSON.stringify(lora)} is refused`,
    url: '/v1/preview/models',
    body: { ...body, name: 'refused', lora },
    status,
    answer,
  });
  runScenarios(
    () => server,
    [
      refusedLora({ r: 0 }, 422, { detail: [{ loc: ['body', 'lora', 'r'], type: 'greater_than_equal' }] }),
      refusedLora({ r: 257 }, 422, { detail: [{ loc: ['body', 'lora', 'r'], type: 'less_than_equal' }] }),
      refusedLora({ lora_alpha: 0 }, 422, { detail: [{ loc: ['body', 'lora', 'lora_alpha'], type: 'greater_than' }] }),
      refusedLora({ target_modules: [] }, 422, {}),
      refusedLora({ target_modules: ['embed_tokens'] }, 422, {
        detail: [{ msg: containing('embed_tokens is not supported') }],
      }),
      refusedLora({ target_modules: ['qkv_proj'] }, 400, {
        detail: containing(
          'qkv_proj is not a linear layer of this base model, which has q_proj, k_proj, v_proj, o_proj',
        ),
        error: { code: 'invalid_request', param: 'lora.target_modules' },
      }),
      {
        name: 'as a fork takes no lora',
        url: '/v1/preview/models',
        body: { ...body, name: 'refused', from_checkpoint: 'default/p/agent@0', lora: { r: 2 } },
        status: 422,
        answer: { detail: [{ loc: ['body', 'lora'], msg: containing('a fork has the adapter of its source') }] },
      },
    ],
  );

  test('with another base model is a conflict', async () => {
    const id = createId();
    await server.storage.models.create(
      {
        id,
        entity: 'default',
        project: 'p',
        name: 'older',
        baseModel: 'gone/base',
        runId: null,
        createdAtMs: 1,
      },
      {
        id: createId(),
        modelId: id,
        step: 0,
        metrics: {},
        blobPrefix: `checkpoints/${id}/0`,
        fresh: true,
        createdAtMs: 1,
      },
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

test('models in brief are found by a part of their name, the one with the latest job first', async () => {
  const [older, newer] = [await register(server, 'Apple-pie'), await register(server, 'apple-juice')];
  server.clock.advance(1_000);
  const found = async () =>
    (await send(server, { url: '/v1/preview/model-summaries?search=APPLE' })).json<List>().data.map(({ id }) => id);
  expect(await found()).toEqual([newer, older]);
  const body = { model_id: older, trajectory_groups: [] };
  const job = await send(server, { url: '/v1/preview/training-jobs', body });
  expect(await found()).toEqual([older, newer]);
  await send(server, { method: 'POST', url: `/v1/preview/training-jobs/${job.json<{ id: string }>().id}/cancel` });
});

describe('labels of a model', () => {
  const url = (id: string) => `/v1/preview/models/${id}/labels`;
  const put = (id: string, body: object) => send(server, { method: 'PUT', url: url(id), body });
  const names = async (path: string) =>
    (await send(server, { url: path }))
      .json<{ data: { name?: string; id: string }[] }>()
      .data.map((row) => row.name ?? row.id);

  test('stay as they are where the request leaves them out; lists leave archived models out, calls do not', async () => {
    const id = await register(server, 'labelled');
    const at = new Date(server.clock.now()).toISOString();
    const tagged = await put(id, { tags: ['b', 'a', 'b'], note: 'Two\nlines', wow: 1 });
    const labels = { tags: ['b', 'a'], note: 'Two\nlines', archived_at: null };
    expect(tagged.json()).toMatchObject({
      object: 'model_labels',
      model_id: id,
      ...labels,
      warnings: [containing('wow')],
    });
    expect((await put(id, { archived: true })).json()).toMatchObject({ ...labels, archived_at: at });
    server.clock.advance(1_000);
    expect((await put(id, { archived: true, note: '' })).json()).toMatchObject({ note: null, archived_at: at });
    expect((await send(server, { url: `/v1/preview/models/${id}` })).json()).toMatchObject({
      tags: ['b', 'a'],
      archived_at: at,
    });
    for (const list of ['/v1/preview/models', '/v1/preview/model-summaries']) {
      expect(await names(`${list}?tag=a`)).toEqual([]);
      for (const asked of ['tag=a&archived=include', 'tag=b&archived=only', 'name=labelled'])
        expect(await names(`${list}?${asked}`), `${list}?${asked}`).toEqual(['labelled']);
      expect(await names(`${list}?name=labelled&archived=exclude`)).toEqual([]);
    }
    const listed = 'wandb-artifact:///default/p/labelled';
    expect(await names('/v1/models')).not.toContain(listed);
    expect(await names('/v1/models?archived=only')).toContain(listed);
    const asked = chat({ model: 'p/labelled' });
    expect((await send(server, { url: '/v1/chat/completions', body: asked })).statusCode).toBe(200);
    const body = { project: 'p', name: 'labelled', base_model: BASE, return_existing: true };
    const again = await send(server, { url: '/v1/preview/models', body });
    expect(again.json()).toMatchObject({ id, warnings: [containing('is archived')] });
    expect((await put(id, { archived: false })).json()).toMatchObject({ archived_at: null });
    expect(await names('/v1/preview/models?tag=a')).toEqual(['labelled']);
    const projects = (await send(server, { url: '/v1/preview/model-projects?limit=1' })).json<List>();
    expect(projects).toMatchObject({ data: [{ id: 'p', archived_count: 0 }], last_id: 'p' });
  });

  test.each([
    [{ tags: ['a b'] }, 'no spaces'],
    [{ tags: ['a"'] }, 'quotes'],
    [{ tags: ['a\u202e'] }, 'direction of writing'],
    [{ tags: [''] }, 'at least 1 character'],
    [{ tags: 'a' }, 'valid list'],
    [{ note: 'a\u001b[2J' }, 'control characters'],
    [{ note: 'x'.repeat(4001) }, 'at most 4000'],
    [{ archived: 'perhaps' }, 'valid boolean'],
  ])('%j is refused', async (body, why) => {
    const refused = await put(createId(), body);
    expect(refused.json()).toMatchObject({ detail: [{ msg: containing(why) }] });
    expect(refused.statusCode).toBe(422);
  });

  test('of another entity’s model are not found', async () => {
    const id = await register(server, 'labelled-too');
    const headers = await strangerHeaders();
    const refused = await send(server, { method: 'PUT', url: url(id), body: { tags: ['x'] }, headers });
    expect(refused.statusCode).toBe(404);
    expect((await send(server, { url: '/v1/preview/model-projects', headers })).json<List>().data).toEqual([]);
  });
});

describe('another entity', () => {
  test('cannot see a model: 404 everywhere', async () => {
    const id = await register(server, 'secret');
    const headers = await strangerHeaders();
    const job = await send(server, { url: '/v1/preview/training-jobs', body: { model_id: id, trajectory_groups: [] } });
    const jobUrl = `/v1/preview/training-jobs/${job.json<{ id: string }>().id}`;
    const requests = [
      { url: `/v1/preview/models/${id}` },
      { method: 'DELETE' as const, url: `/v1/preview/models/${id}` },
      { url: `/v1/preview/models/${id}/checkpoints` },
      { url: `/v1/preview/models/${id}/evaluations` },
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
    for (const url of ['/v1/preview/models', '/v1/preview/training-jobs', '/v1/preview/model-summaries?search=secret'])
      expect((await send(server, { url, headers })).json<List>().data).toEqual([]);
    expect((await send(server, { url: '/v1/models', headers })).json<List>().data.map((model) => model.id)).toEqual([
      BASE,
    ]);
    expect((await send(server, { method: 'POST', url: `${jobUrl}/cancel` })).statusCode).toBe(200);
  });
});
