// Weights that one team publishes and another reads: what the other team can see and do with them, and that both end when the
// weights are private again. test/system/security/keys.test.ts checks that nothing else of a team is visible.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { saveWeights } from '../../support/api/saved-weights.ts';
import { BASE, containing, send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();
const others = { authorization: '' };
const ours = {};
let run: string;
let theirSession: string;
let paths: Record<'weights' | 'sampler_weights' | 'external_weights' | 'kept', string>;
let samplers = 0;
let runs = 0;

type Headers = Record<string, string>;
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
const call = (method: Method, path: string, headers: Headers, body?: unknown) =>
  send(server, { method, url: `/tinker/api/v1/${path}`, headers, ...(body === undefined ? {} : { body }) });
const post = (path: string, headers: Headers, body: unknown) => call('POST', path, headers, body);
const checkpoint = (path: string) => `training_runs/${path.slice('tinker://'.length).replace('/', '/checkpoints/')}`;
const publish = (path: string, headers: Headers = ours) => call('POST', `${checkpoint(path)}/publish`, headers);
const unpublish = (path: string, headers: Headers = ours) => call('DELETE', `${checkpoint(path)}/publish`, headers);

beforeAll(async () => {
  others.authorization = `Bearer ${(await server.apiKeys.create({ entity: 'others', name: 'o' })).secret}`;
  const { session_id } = (await post('create_session', ours, {})).json<{ session_id: string }>();
  const about = { session_id, model_seq_id: 0, base_model: BASE, user_metadata: { renderer_name: 'qwen3' } };
  run = (await post('create_model', ours, { ...about, lora_config: { rank: 4 } })).json<{ model_id: string }>()
    .model_id;
  theirSession = (await post('create_session', others, {})).json<{ session_id: string }>().session_id;
});

beforeEach(async () => {
  const save = (kind: 'weights' | 'sampler_weights' | 'external_weights', name: string) =>
    saveWeights(server, run, kind, name);
  paths = {
    weights: await save('weights', 'a'),
    sampler_weights: await save('sampler_weights', 'a'),
    external_weights: await save('external_weights', 'a'),
    kept: await save('weights', 'kept'),
  };
});

const openSampler = (path: string) =>
  post('create_sampling_session', others, {
    session_id: theirSession,
    sampling_session_seq_id: samplers++,
    model_path: path,
  });
const load = (path: string) =>
  post('load_weights', others, { session_id: theirSession, model_seq_id: runs++, path, optimizer: true });

async function sampleOf(sampling_session_id: string, seq_id: number) {
  const { request_id } = (
    await post('asample', others, {
      sampling_session_id,
      seq_id,
      prompt: { chunks: [{ type: 'encoded_text', tokens: [1, 2, 3] }] },
      sampling_params: { max_tokens: 2 },
    })
  ).json<{ request_id: string }>();
  let answer = await post('retrieve_future', others, { request_id });
  await expect
    .poll(async () => (answer = await post('retrieve_future', others, { request_id })).statusCode, { timeout: 30_000 })
    .toBe(200);
  return answer;
}

test('only the owner publishes, any number of times, and sees what is public', async () => {
  for (const denied of [await publish(paths.weights, others), await unpublish(paths.weights, others)])
    expect(denied.statusCode).toBe(404);
  const shown = async () => {
    const { checkpoints } = (await call('GET', 'checkpoints', ours)).json<{
      checkpoints: { tinker_path: string; public: boolean }[];
    }>();
    return checkpoints.filter((each) => each.public).map((each) => each.tinker_path);
  };
  for (let i = 0; i < 2; i++) {
    expect((await publish(paths.weights)).statusCode).toBe(204);
    expect(await shown()).toEqual([paths.weights]);
  }
  expect((await publish(paths.weights, others)).statusCode).toBe(404); // not theirs, although they may read it
  expect((await unpublish(paths.weights, others)).statusCode).toBe(404);
  for (let i = 0; i < 2; i++) {
    expect((await unpublish(paths.weights)).statusCode).toBe(204);
    expect(await shown()).toEqual([]);
  }
});

test('another team sees the published part of the run wherever it asks what it may read', async () => {
  const listed = async (scope: string) =>
    (await call('GET', `training_runs?access_scope=${scope}`, others)).json<{
      training_runs: { training_run_id: string }[];
      cursor: { total_count: number };
    }>();
  expect((await listed('accessible')).training_runs).toEqual([]);
  expect((await call('GET', `training_runs/${run}?access_scope=accessible`, others)).statusCode).toBe(404);
  await publish(paths.weights);
  const { training_runs, cursor } = await listed('accessible');
  expect(cursor.total_count).toBe(1);
  expect(training_runs[0]).toMatchObject({
    training_run_id: run,
    base_model: BASE,
    model_owner: 'default',
    lora_rank: 4,
    user_metadata: { renderer_name: 'qwen3' },
    last_checkpoint: { tinker_path: paths.weights, public: true },
  });
  expect(training_runs[0]).not.toHaveProperty('last_sampler_checkpoint');
  expect((await listed('owned')).training_runs).toEqual([]);
  expect((await call('GET', `training_runs/${run}`, others)).statusCode).toBe(404);
  expect((await call('GET', `training_runs/${run}?access_scope=accessible`, others)).json()).toEqual(training_runs[0]);
  const ofRun = (await call('GET', `training_runs/${run}/checkpoints`, others)).json<{
    checkpoints: { tinker_path: string }[];
  }>();
  expect(ofRun.checkpoints.map(({ tinker_path }) => tinker_path)).toEqual([paths.weights]);
  expect((await call('GET', 'checkpoints', others)).json()).toMatchObject({ checkpoints: [] });
});

test('another team can read published weights in every way, and unpublished ones in none', async () => {
  const info = (path: string) => post('weights_info', others, { tinker_path: path });
  const urls = (path: string) => call('GET', `${checkpoint(path)}/external_weights_urls`, others);
  for (const path of [paths.weights, paths.sampler_weights, paths.external_weights]) await publish(path);

  expect((await info(paths.weights)).json()).toMatchObject({ base_model: BASE, lora_rank: 4 });
  for (const path of [paths.weights, paths.sampler_weights]) {
    const { sampling_session_id } = (await openSampler(path)).json<{ sampling_session_id: string }>();
    const answer = await sampleOf(sampling_session_id, 0);
    expect(answer.headers['content-type'], answer.body).toBe('application/x-protobuf');
  }
  const loaded = (await load(paths.weights)).json<{ model_id: string }>().model_id;
  expect((await post('get_info', others, { model_id: loaded })).json()).toMatchObject({ lora_rank: 4 });
  expect((await post('get_info', ours, { model_id: loaded })).statusCode).toBe(404);
  const found = (await urls(paths.external_weights)).json<{ urls: Record<string, string> }>().urls;
  const file = new URL(found['adapter_config.json']!);
  const link = `${file.pathname}${file.search}`;
  expect((await send(server, { url: link })).json()).toMatchObject({ r: 4 });

  for (const denied of [await info(paths.kept), await openSampler(paths.kept), await load(paths.kept)]) {
    expect(denied.statusCode).toBe(404);
    expect(denied.json()).toMatchObject({ detail: containing('There are no saved weights') });
  }
  await unpublish(paths.external_weights);
  expect((await urls(paths.external_weights)).statusCode).toBe(404);
  expect((await send(server, { url: link })).statusCode).toBe(404); // a link grants what its key may read
});

test('no other team can delete published weights or set when they expire', async () => {
  await publish(paths.weights);
  expect((await call('DELETE', checkpoint(paths.weights), others)).statusCode).toBe(404);
  expect((await call('PUT', `${checkpoint(paths.weights)}/ttl`, others, { ttl_seconds: 3600 })).statusCode).toBe(404);
  expect(await server.storage.tinker.findCheckpoint(run, 'weights', 'a')).toMatchObject({ expiresAtMs: null });
});

test('weights made private again cannot be sampled by another team, and what was trained from them stays', async () => {
  await publish(paths.weights);
  const { sampling_session_id } = (await openSampler(paths.weights)).json<{ sampling_session_id: string }>();
  const { model_id } = (await load(paths.weights)).json<{ model_id: string }>();
  await unpublish(paths.weights);
  expect((await sampleOf(sampling_session_id, 0)).json()).toMatchObject({
    category: 'user',
    error: containing('no longer published'),
  });
  expect((await openSampler(paths.weights)).statusCode).toBe(404);
  expect((await post('get_info', others, { model_id })).statusCode).toBe(200);
});

test('weights saved again under their name are private', async () => {
  await publish(paths.weights);
  await saveWeights(server, run, 'weights', 'a');
  expect((await openSampler(paths.weights)).statusCode).toBe(404);
});
