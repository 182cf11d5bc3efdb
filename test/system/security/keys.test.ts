// Every route with every key that must not open it. The routes come from the server's OpenAPI document, so that a new one is
// covered at once: a route that this file cannot call fails the first test.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createId } from '#base/ids';
import { SCOPES, type Scope } from '#domain/api-key';
import { saveWeights } from '../../support/api/saved-weights.ts';
import { asOwner, BASE, chat, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';

let server: TestServer;
/** Words of the first team's data, which must not reach other teams. */
let ours: Record<string, string>;
const secrets: Record<string, string> = {};

beforeAll(async () => {
  server = await openTestServer();
  ours = await furnish();
  for (const scope of SCOPES) secrets[scope] = (await newKey('default', [scope])).secret;
  secrets.others = (await newKey('others', SCOPES)).secret;
  const revoked = await newKey('default', SCOPES);
  await server.apiKeys.revoke(revoked.key.id, null);
  secrets.revoked = revoked.secret;
});
afterAll(() => server.close());

const newKey = (entity: string, scopes: readonly Scope[]) => server.apiKeys.create({ entity, name: 'test', scopes });

/** One of each resource, made over HTTP. */
async function furnish(): Promise<Record<string, string>> {
  const made = async (request: Parameters<typeof send>[1]) => {
    const response = await send(server, request);
    expect(response.statusCode, response.body).toBeLessThan(300);
    return response.json<{ id: string }>().id;
  };
  const model = { entity: 'default', project: 'secret-project', name: 'secret-model', base_model: BASE };
  const model_id = await made({ url: '/v1/preview/models', body: model });
  const evaluation = { prompts: [{ messages: [{ role: 'user', content: 'secret-prompt' }] }], max_tokens: 1 };
  const evaluated = { model_id, trajectory_groups: [], evaluation };
  const training_job_id = await made({ url: '/v1/preview/training-jobs', body: evaluated });
  await made({ method: 'PUT', url: '/v1/artifacts/default/secret-project/secret-data/train.jsonl', body: '{}' });
  const bucket =
    'mutation { upsertBucket(input: {name: "secret-run", modelName: "secret-project"}) { bucket { id } } }';
  const logging = await send(server, { url: '/graphql', body: { query: bucket } });
  expect(logging.json()).toMatchObject({ data: { upsertBucket: { bucket: { id: expect.any(String) as string } } } });
  const key_id = await made({ url: '/v1/keys', body: { name: 'secret-key' } });
  const body = chat({ model: 'default/secret-project/secret-model' });
  await made({ url: '/e/secret-group/secret-episode/v1/chat/completions', body });
  const webhook_id = await made({ url: '/v1/webhooks', body: { url: 'http://127.0.0.1:9/secret-hook' } });
  const cancelled = await made({ url: '/v1/preview/training-jobs', body: { model_id, trajectory_groups: [] } });
  await made({ method: 'POST', url: `/v1/preview/training-jobs/${cancelled}/cancel` });
  const logged = { split: 'secret-split', trajectory_groups: [] };
  await made({ url: `/v1/preview/models/${model_id}/log`, body: logged });
  const logs = await send(server, { url: `/v1/preview/models/${model_id}/logs` });
  const log_id = logs.json<{ data: { id: string }[] }>().data[0]!.id;
  const sent = await send(server, { url: `/v1/webhooks/${webhook_id}/deliveries` });
  const delivery_id = sent.json<{ data: { id: string }[] }>().data[0]!.id;
  const asked = { model: BASE, input: 'secret-input', max_output_tokens: 2 };
  const response_id = await made({ url: '/v1/responses', body: asked });
  const tinker = async (path: string, body: object) => {
    const response = await send(server, { url: `/tinker/api/v1/${path}`, body });
    expect(response.statusCode, response.body).toBe(200);
    return response.json<Record<string, string>>();
  };
  const { session_id } = await tinker('create_session', { tags: ['secret-tag'], user_metadata: { a: 'secret-note' } });
  const run = { session_id, model_seq_id: 0, base_model: BASE, user_metadata: { a: 'secret-note' } };
  const { model_id: run_id } = await tinker('create_model', run);
  const sampler = { session_id, sampling_session_seq_id: 0, base_model: BASE };
  const { sampling_session_id: sampler_id } = await tinker('create_sampling_session', sampler);
  for (const kind of ['weights', 'external_weights'] as const)
    await saveWeights(server, run_id!, kind, 'secret-weights');
  return {
    session_id: session_id!,
    run_id: run_id!,
    sampler_id: sampler_id!,
    kind: 'weights',
    name: 'secret-weights',
    model_id,
    training_job_id,
    episode: 'secret-episode',
    response_id,
    group: '0',
    log_id,
    key_id,
    webhook_id,
    delivery_id,
    step: '0',
    entity: 'default',
    project: 'secret-project',
    artifact: 'secret-data',
    path: 'train.jsonl',
    run: 'secret-run',
    sha256: '0'.repeat(64),
    model: 'default/secret-project/secret-model',
  };
}

/** Body fields such that only the key decides; they refer to the first team's resources where they name any. */
const bodyOf = (path: string): unknown =>
  (BODIES[path] ?? TINKER_BODIES[path.replace('/tinker/api/v1/', '')])?.(ours) ?? {};

const TINKER_BODIES: Readonly<Record<string, (named: Record<string, string>) => unknown>> = {
  session_heartbeat: ({ session_id }) => ({ session_id }),
  create_model: ({ session_id }) => ({ session_id, model_seq_id: 1, base_model: BASE }),
  load_weights: ({ run_id }) => ({ model_id: run_id, seq_id: 1, path: `tinker://${run_id}/weights/secret-weights` }),
  get_info: ({ run_id }) => ({ model_id: run_id }),
  // protobuf: field 1, a string of so many bytes
  forward_backward: ({ run_id }) => `\x0a${String.fromCharCode(run_id!.length)}${run_id}`,
  optim_step: ({ run_id }) => ({ model_id: run_id, seq_id: 1, adam_params: {} }),
  save_weights: ({ run_id }) => ({ model_id: run_id, seq_id: 1, path: 'a' }),
  save_weights_for_sampler: ({ run_id }) => ({ model_id: run_id, seq_id: 1, path: 'a' }),
  save_weights_external: ({ run_id }) => ({ model_id: run_id, seq_id: 1, path: 'a' }),
  create_sampling_session: ({ session_id }) => ({ session_id, sampling_session_seq_id: 1, base_model: BASE }),
  asample: ({ sampler_id }) => ({
    sampling_session_id: sampler_id,
    seq_id: 0,
    prompt: { chunks: [{ type: 'encoded_text', tokens: [1] }] },
    sampling_params: {},
  }),
  retrieve_future: ({ run_id }) => ({ request_id: `${run_id}/0` }),
  weights_info: ({ run_id }) => ({ tinker_path: `tinker://${run_id}/weights/secret-weights` }),
};

const BODIES: Readonly<Record<string, (named: Record<string, string>) => unknown>> = {
  '/v1/chat/completions': ({ model }) => chat({ model }),
  '/v1/completions': ({ model }) => ({ model, prompt: 'Hello', max_tokens: 2 }),
  '/inference/v1/generate': ({ model }) => ({ model, token_ids: [1, 2], sampling_params: { max_tokens: 2 } }),
  '/v1/embeddings': ({ model }) => ({ model, input: 'Hello' }),
  '/v1/messages': ({ model }) => ({ model, max_tokens: 2, messages: [{ role: 'user', content: 'Hi' }] }),
  '/v1/messages/count_tokens': ({ model }) => ({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  '/v1/responses': ({ model }) => ({ model, input: 'Hi', max_output_tokens: 2 }),
  '/v1/responses/input_tokens': ({ model }) => ({ model, input: 'Hi' }),
  '/tokenize': ({ model }) => ({ model, prompt: 'Hello' }),
  '/detokenize': ({ model }) => ({ model, tokens: [1] }),
  '/v1/preview/models': () => ({ project: 'p', name: createId(), base_model: BASE, entity: 'default' }),
  '/v1/preview/training-jobs': ({ model_id }) => ({ model_id, trajectory_groups: [] }),
  '/v1/preview/sft-training-jobs': ({ model_id }) => ({
    model_id,
    training_data_url: 'wandb-artifact:///default/secret-project/secret-data',
  }),
  '/v1/preview/dpo-training-jobs': ({ model_id }) => ({
    model_id,
    training_data_url: 'wandb-artifact:///default/secret-project/secret-data',
  }),
  '/v1/preview/models/{model_id}/log': () => ({ split: 'val', trajectory_groups: [] }),
  '/v1/preview/models/{model_id}/save-policy': () => ({ save_policy: null }),
  '/v1/preview/models/{model_id}/labels': () => ({ tags: ['x'] }),
  '/v1/preview/models/{model_id}/online-training': () => ({}),
  '/v1/preview/models/{model_id}/checkpoints': () => ({ steps: [0] }),
  '/v1/preview/episodes': ({ model_id }) => ({ model_id }),
  '/v1/preview/episodes/{episode}/reward': () => ({ reward: 1 }),
  '/v1/keys': () => ({ name: 'new' }),
  '/v1/webhooks': () => ({ url: 'http://127.0.0.1:9/' }),
  '/graphql': () => ({
    query: '{ project(name: "secret-project", entityName: "default") { name run(name: "secret-run") { id name } } }',
  }),
  '/v1/artifacts/{entity}/{project}/{artifact}': () => ({
    type: 'dataset',
    files: [{ path: 'a', sha256: '0'.repeat(64) }],
  }),
};

interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Null: any key. */
  readonly scope: Scope | null;
}

async function routes(): Promise<Route[]> {
  const { paths } = (await send(server, { url: '/openapi.json' })).json<{
    paths: Record<string, Record<string, { security: { apiKey: Scope[] }[] }>>;
  }>();
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { security }]) =>
      security.length === 0
        ? []
        : [{ method: method.toUpperCase() as Route['method'], path, scope: security[0]!.apiKey[0] ?? null }],
    ),
  );
}

function call({ method, path }: Route, headers: Record<string, string>) {
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    expect(ours[name], `a value for {${name}} of ${path}`).toBeDefined();
    return ours[name]!;
  });
  return send(server, { method, url, headers, ...(method === 'GET' ? {} : { body: bodyOf(path) }) });
}

/** Routes that refer to none of our resources. */
const MAKES_ITS_OWN = new Set([
  '/v1/keys',
  '/v1/webhooks',
  ...['client/config', 'client/dynamic_config', 'telemetry', 'create_session'].map((path) => `/tinker/api/v1/${path}`),
]);
/** Routes that answer null for unknown ids, or accept and drop the body. */
const TELLS_NOTHING = new Set(['/graphql', '/traces/{path}']);

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

describe('every route that needs a key', () => {
  test('is in this table, and there are many', async () => {
    expect((await routes()).length).toBeGreaterThan(25);
  });

  test.each([
    ['no key', () => ({ authorization: '' })],
    ['a wrong key', () => bearer('wk-0000000000000000000000000000')],
    ['half of a key', () => bearer(asOwner.authorization.slice(7, -2))],
    ['a revoked key', () => bearer(secrets.revoked!)],
    ['a key in the wrong scheme', () => ({ authorization: asOwner.authorization.replace('Bearer', 'Basic') })],
  ])('answers 401 to %s', async (_, headers) => {
    for (const route of await routes()) {
      const response = await call(route, headers());
      expect(response.statusCode, `${route.method} ${route.path}: ${response.body}`).toBe(401);
      expect(response.body).not.toContain('secret');
    }
  });

  test('answers 403 to a key without the scope, and names the scope', async () => {
    const without: Record<Scope, Scope[]> = {
      chat: ['read', 'train'],
      train: ['chat', 'read'],
      read: ['chat'],
      admin: ['chat', 'train', 'read'],
      worker: ['chat', 'train', 'read', 'admin'],
    };
    for (const route of await routes()) {
      for (const other of route.scope ? without[route.scope] : []) {
        const response = await call(route, bearer(secrets[other]!));
        expect(response.statusCode, `${route.method} ${route.path} with ${other}`).toBe(403);
        expect(response.json()).toMatchObject({ error: { code: 'missing_scope', type: 'permission_error' } });
        expect(response.body).toContain(`scope ${route.scope}`);
      }
    }
  });

  test('never shows our resources to another entity: 404, or a list without them', async () => {
    // Workers belong to the operator: a key with the worker scope sees all of them.
    for (const route of (await routes()).filter(({ scope }) => scope !== 'worker')) {
      const response = await call(route, bearer(secrets.others!));
      const where = `${route.method} ${route.path}: ${response.statusCode} ${response.body}`;
      const isList = route.method === 'GET' && !route.path.includes('{');
      const isTold = isList || TELLS_NOTHING.has(route.path);
      expect(response.statusCode, where).toBe(isTold || MAKES_ITS_OWN.has(route.path) ? 200 : 404);
      if (isTold)
        for (const trace of [
          'secret-',
          ours.model_id,
          ours.session_id,
          ours.training_job_id,
          ours.key_id,
          ours.webhook_id,
        ])
          expect(response.body, where).not.toContain(trace);
    }
  });

  test('answers the same for unknown resources and for those of another entity', async () => {
    const told = async (url: string, secret: string) => {
      const { statusCode, body } = await send(server, { url, headers: bearer(secret) });
      return { statusCode, body };
    };
    for (const [url, id] of [
      [`/v1/preview/models/${ours.model_id}`, ours.model_id],
      [`/v1/preview/training-jobs/${ours.training_job_id}`, ours.training_job_id],
      [`/v1/preview/training-jobs/${ours.training_job_id}/events`, ours.training_job_id],
      [`/v1/preview/training-jobs/${ours.training_job_id}/evaluation/answers`, ours.training_job_id],
      [`/v1/webhooks/${ours.webhook_id}/deliveries`, ours.webhook_id],
      [`/v1/responses/${ours.response_id}`, ours.response_id],
      [`/v1/responses/${ours.response_id}/input_items`, ours.response_id],
    ] as const) {
      const unknown = createId();
      const theirs = await told(url, secrets.others!);
      const nobodys = await told(url.replace(id!, unknown), secrets.others!);
      expect(theirs).toEqual({ ...nobodys, body: nobodys.body.replaceAll(unknown, id!) });
    }
  });

  test('and none of these attempts changed our resources', async () => {
    expect((await call({ method: 'GET', path: '/v1/preview/models/{model_id}', scope: 'read' }, {})).statusCode).toBe(
      200,
    );
    expect(
      (await call({ method: 'GET', path: '/v1/artifacts/{entity}/{project}/{artifact}/{path}', scope: 'read' }, {}))
        .body,
    ).toBe('{}');
    const weights = await server.storage.tinker.findCheckpoint(ours.run_id!, 'weights', 'secret-weights');
    expect(weights).toMatchObject({ expiresAtMs: null, publishedAtMs: null });
    expect(await server.storage.responses.find(ours.response_id!)).toMatchObject({ status: 'incomplete' });
    expect(await server.storage.jobs.find(ours.training_job_id!)).toMatchObject({ status: 'queued' });
    expect(await server.storage.evaluations.find(ours.training_job_id!)).toMatchObject({ cancelRequested: false });
  });
});
