// The Tinker protocol without its SDK: requests that are repeated, unknown, or refer to another entity's objects. The SDK itself is
// tested in test/python/clients/tinker-sdk.test.ts.
import { beforeAll, describe, expect, test } from 'vitest';
import { createMessage } from '../../../src/services/tinker/protobuf/wire.ts';
import { saveWeights } from '../../support/api/saved-weights.ts';
import { BASE, BOOTSTRAP_KEY, containing, send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();
let session: string;
let run: string;

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  send(server, { url: `/tinker/api/v1/${path}`, body, headers });
const get = (path: string) => send(server, { url: `/tinker/api/v1/${path}` });
const adam = (seq_id: number, learning_rate = 0.1) => ({ model_id: run, seq_id, adam_params: { learning_rate } });
const sample = (seq_id: number, about: object = {}, sampling: object = {}) => ({
  sampling_session_id: `${session}:sampler:0`,
  seq_id,
  num_samples: 2,
  prompt: { chunks: [{ type: 'encoded_text', tokens: [1, 2, 3] }] },
  sampling_params: { max_tokens: 3, ...sampling },
  ...about,
});

beforeAll(async () => {
  session = (await post('create_session', {})).json<{ session_id: string }>().session_id;
  run = (await post('create_model', { session_id: session, model_seq_id: 0, base_model: BASE })).json<{
    model_id: string;
  }>().model_id;
  await post('create_sampling_session', { session_id: session, sampling_session_seq_id: 0, base_model: BASE });
});

describe('a Tinker client', () => {
  test('sends its key in its own header, with its own prefix', async () => {
    const headers = { authorization: '', 'x-api-key': `tml-${BOOTSTRAP_KEY}` };
    expect((await post('client/config', {}, headers)).statusCode).toBe(200);
    const wrong = await post('client/config', {}, { ...headers, 'x-api-key': 'tml-wk-wrong' });
    expect(wrong.statusCode).toBe(401);
    expect(wrong.json()).toMatchObject({ detail: containing('Incorrect or revoked') });
  });

  test('finds its run under the id that it computes, however often the run is created', async () => {
    expect(run).toBe(`${session}:train:0`);
    const again = await post('create_model', { session_id: session, model_seq_id: 0, base_model: BASE });
    expect(again.json()).toEqual({ request_id: `${run}/0`, model_id: run });
    expect((await post('retrieve_future', { request_id: `${run}/0` })).json()).toEqual({ model_id: run });
    const info = (await post('get_info', { model_id: run })).json<object>();
    expect(info).toMatchObject({ lora_rank: 32, model_data: { model_name: BASE } });
  });

  test('gets the same future for the same number, and an error for another body', async () => {
    const first = await post('optim_step', adam(7));
    expect(first.json()).toEqual({ request_id: `${run}/7`, model_id: run });
    expect((await post('optim_step', adam(7))).json()).toEqual(first.json());
    const other = await post('optim_step', adam(7, 0.2));
    expect(other.statusCode).toBe(400);
    expect(other.json()).toMatchObject({ detail: containing('with another body') });
  });

  test('waits for an unfinished operation, and asks again', async () => {
    await post('optim_step', adam(8));
    const waiting = await post('retrieve_future', { request_id: `${run}/8` });
    expect(waiting.statusCode).toBe(408);
    expect(waiting.json()).toMatchObject({ type: 'try_again', queue_state: 'active' });
    await server.storage.tinker.noteWaiting({ id: run, attempt: 0 }, { kind: 'job', id: 'j1' });
    expect((await post('retrieve_future', { request_id: `${run}/8` })).json()).toMatchObject({
      queue_state: 'paused_capacity',
      queue_state_reason: 'It waits for its turn behind the training job j1',
    });
    expect((await post('retrieve_future', { request_id: `${run}/99` })).statusCode).toBe(404);
  });

  test.each([
    ['a field that is not known', 'optim_step', (): unknown => ({ ...adam(9), momentum: 1 }), 422, 'momentum'],
    [
      'another optimiser',
      'create_model',
      (): unknown => ({ session_id: session, model_seq_id: 5, base_model: BASE, optimizer_config: { type: 'dimuon' } }),
      400,
      'dimuon',
    ],
    [
      'a model that is not hosted',
      'create_model',
      (): unknown => ({ session_id: session, model_seq_id: 5, base_model: 'a/b' }),
      404,
      'does not host',
    ],
    [
      'weights that are not there',
      'create_sampling_session',
      (): unknown => ({ session_id: session, sampling_session_seq_id: 4, model_path: `tinker://${run}/weights/no` }),
      404,
      'no saved weights',
    ],
    [
      'a name of weights that is shown as another',
      'save_weights',
      (): unknown => ({ model_id: run, seq_id: 60, path: 'a\u202eb' }),
      422,
      'direction of writing',
    ],
    [
      'a name of weights with an escape',
      'save_weights_for_sampler',
      (): unknown => ({ model_id: run, seq_id: 60, path: 'a\u001b[2J' }),
      422,
      'control characters',
    ],
    ...['a b', 'a/b', 'a?b', 'a#b', 'a%2Fb', ''].map(
      (name) =>
        [
          `a name of weights that the SDK could not address: ${name}`,
          'save_weights',
          (): unknown => ({ model_id: run, seq_id: 60, path: name }),
          422,
          'A name has 1 to 200 characters',
        ] as const,
    ),
    [
      'a name of weights that is a path',
      'save_weights',
      (): unknown => ({ model_id: run, seq_id: 60, path: '..' }),
      422,
      'must not be . or ..',
    ],
    ['bytes that are no message', 'forward_backward', (): unknown => '\xff\xff\xff', 400, 'protobuf'],
    [
      'samples for the loss stable_reinforce, whose place is named',
      'asample',
      (): unknown => sample(51, { record_stability_info: true }),
      422,
      'stable_reinforce needs',
    ],
    [
      'samples for the loss stable_reinforce, with what to set',
      'asample',
      (): unknown => sample(52, { record_stability_info: true }),
      422,
      'another loss_fn of the recipe (importance_sampling, ppo, cispo, dro, gspo)',
    ],
    [
      'draws at the places of a prompt',
      'asample',
      (): unknown => sample(50, { prompt_alt_tokens_k: 2 }),
      422,
      'prompt_alt_tokens_k',
    ],
  ] as const)('is refused %s', async (_, path, body, status, words) => {
    const response = await post(path, body());
    expect(response.statusCode, response.body).toBe(status);
    expect(response.body).toContain(words);
  });

  test('sends data as protobuf, and waits for the results', async () => {
    const message = createMessage().text(1, run).integer(2, 20).text(4, 'cross_entropy').done();
    const response = await post('forward_backward', Buffer.from(message).toString('latin1'), {
      'content-type': 'application/x-protobuf',
    });
    expect(response.json()).toEqual({ request_id: `${run}/20`, model_id: run });
  });

  test('a request that is refused when it arrives uses its number, and can be sent again under it', async () => {
    const refused = await post('optim_step', { ...adam(30), momentum: 1 });
    expect(refused.statusCode).toBe(422);
    const future = await post('retrieve_future', { request_id: `${run}/30` });
    expect(future.json()).toMatchObject({ category: 'user', error: containing('momentum') });
    expect((await post('optim_step', adam(30))).statusCode).toBe(200);
    expect((await post('retrieve_future', { request_id: `${run}/30` })).statusCode).toBe(408);
    const headers = { 'content-type': 'application/x-protobuf' };
    const head = createMessage().text(1, run).integer(2, 31).done();
    const broken = Buffer.concat([head, Buffer.from([0xff, 0xff, 0xff])]);
    expect((await post('forward_backward', broken.toString('latin1'), headers)).statusCode).toBe(400);
    expect((await post('retrieve_future', { request_id: `${run}/31` })).json()).toMatchObject({ category: 'user' });
    const others = await post('optim_step', { ...adam(1), model_id: 'another:train:0', momentum: 1 });
    expect(others.statusCode).toBe(422);
  });

  test('samples: as many ids as samples, one execution per number, and a protobuf answer', async () => {
    const accepted = (await post('asample', sample(0))).json<{ request_id: string; sample_sequence_ids: string[] }>();
    expect(new Set(accepted.sample_sequence_ids).size).toBe(2);
    expect((await post('asample', sample(0))).json()).toEqual(accepted);
    expect((await post('asample', sample(0, { num_samples: 1 }))).statusCode).toBe(400);
    await expect
      .poll(async () => (await post('retrieve_future', { request_id: accepted.request_id })).statusCode, {
        timeout: 30_000,
      })
      .toBe(200);
    const answer = await post('retrieve_future', { request_id: accepted.request_id });
    expect(answer.headers['content-type']).toBe('application/x-protobuf');
    const others = await server.apiKeys.create({ entity: 'others', name: 'o' });
    const theirs = await post(
      'retrieve_future',
      { request_id: accepted.request_id },
      { authorization: `Bearer ${others.secret}` },
    );
    expect(theirs.statusCode).toBe(410);
    expect((await post('retrieve_future', { request_id: 'sample-gone' })).statusCode).toBe(410);
  });

  test('samples from a copy of the client, whose numbers start beyond JavaScript’s safe integers', async () => {
    const numbered = (number: string) => JSON.stringify(sample(0)).replace('"seq_id":0', `"seq_id":${number}`);
    const asked = async (number: string) =>
      (await post('asample', numbered(number), { 'content-type': 'application/json' })).json<{ request_id: string }>();
    const [first, second] = [await asked('449777509000000001'), await asked('449777509000000002')];
    expect(first.request_id).toMatch(/^sample-/);
    expect(second.request_id).not.toBe(first.request_id);
    expect((await asked('449777509000000001')).request_id).toBe(first.request_id);
    const refused = await post('asample', numbered('-1'), { 'content-type': 'application/json' });
    expect(refused.statusCode).toBe(422);
    expect(refused.body).toContain('0 or greater');
  });

  test('reads in the answer why a sample failed', async () => {
    const { request_id } = (await post('asample', sample(1, {}, { max_tokens: 1_000_000 }))).json<{
      request_id: string;
    }>();
    await expect
      .poll(async () => (await post('retrieve_future', { request_id })).json<object>(), { timeout: 30_000 })
      .toMatchObject({ category: 'user', error: containing('maximum context length') });
  });

  test('gets its own values back as texts, the only ones that the SDK reads', async () => {
    const user_metadata = { a: 2 ** 53, b: [1], c: 0.5, d: 'text', e: null };
    const texts = { a: '9007199254740992', b: '[1]', c: '0.5', d: 'text', e: 'null' };
    const { session_id } = (await post('create_session', { user_metadata })).json<{ session_id: string }>();
    const model = { session_id, model_seq_id: 0, base_model: BASE, user_metadata };
    const { model_id } = (await post('create_model', model)).json<{ model_id: string }>();
    for (const path of [`sessions/${session_id}`, `training_runs/${model_id}`])
      expect((await get(path)).json()).toMatchObject({ user_metadata: texts });
  });

  test('is told what of a session is not stored, and no list is answered as if it were of a project', async () => {
    const made = (await post('create_session', { project_id: 'p', display_name: 'n' })).json<object>();
    expect(made).toMatchObject({ warning_message: containing('project_id and display_name') });
    expect((await post('create_session', {})).json()).not.toHaveProperty('warning_message');
    const listed = await get('training_runs?project_id=p');
    expect([listed.statusCode, listed.body]).toEqual([422, containing('There are no projects here')]);
  });

  test('gets all saved weights of a run when it names no number', async () => {
    expect((await get(`training_runs/${run}/checkpoints`)).json()).toMatchObject({ cursor: { limit: 1_000 } });
  });

  describe('does not get other weights or runs than it asked for', () => {
    let path: Record<'weights' | 'sampler_weights', string>;
    beforeAll(async () => {
      path = {
        weights: await saveWeights(server, run, 'weights', 'w'),
        sampler_weights: await saveWeights(server, run, 'sampler_weights', 'w'),
      };
    });
    const about = () => ({ session_id: session, model_seq_id: 20, sampling_session_seq_id: 20 });
    const load = (change: object) => {
      const { session_id, model_seq_id } = about();
      return post('load_weights', { session_id, model_seq_id, path: path.weights, optimizer: false, ...change });
    };
    const sampler = (change: object) => {
      const { session_id, sampling_session_seq_id } = about();
      return post('create_sampling_session', {
        session_id,
        sampling_session_seq_id,
        model_path: path.weights,
        ...change,
      });
    };

    test.each([
      ['weights of another base model', () => load({ base_model: 'a/b' }), 404, 'does not host'],
      [
        'an optimizer that was not saved',
        () => load({ path: path.sampler_weights, optimizer: true }),
        400,
        'save_state',
      ],
      ['a sampler of another base model', () => sampler({ base_model: 'a/b' }), 404, 'does not host'],
      [
        'a sampler of two runs',
        () => post('save_weights_for_sampler', { model_id: run, seq_id: 61 }),
        400,
        'number of',
      ],
    ])('%s', async (_, attempt, status, words) => {
      const refused = await attempt();
      expect([refused.statusCode, refused.body]).toEqual([status, containing(words)]);
    });

    test('under a number that it has used', async () => {
      for (let i = 0; i < 2; i++) expect((await load({})).statusCode).toBe(200);
      expect((await load({ optimizer: true })).body).toContain('with other settings');
      for (let i = 0; i < 2; i++) expect((await sampler({ base_model: BASE })).statusCode).toBe(200);
      expect((await sampler({ model_path: path.sampler_weights })).body).toContain('another sampling session');
      const model = { session_id: session, model_seq_id: 21, base_model: BASE, lora_config: { rank: 4 } };
      for (let i = 0; i < 2; i++) expect((await post('create_model', model)).statusCode).toBe(200);
      const other = await post('create_model', { ...model, lora_config: { rank: 8 } });
      expect([other.statusCode, other.body]).toEqual([400, containing('with other settings')]);
    });
  });

  test('asks for a result under a name that is none', async () => {
    const { body } = await post('retrieve_future', { request_id: 'garbage' });
    expect(body).toContain('No request garbage');
  });

  test('ends its session, once', async () => {
    const { session_id } = (await post('create_session', {})).json<{ session_id: string }>();
    expect((await post('session_heartbeat', { session_id })).json()).toEqual({ type: 'session_heartbeat' });
    for (let i = 0; i < 2; i++)
      expect((await post(`sessions/${session_id}/finish`, { reason: { type: 'success' } })).statusCode).toBe(204);
    const listed = (await send(server, { url: '/tinker/api/v1/sessions?limit=10' })).json<{ sessions: string[] }>();
    expect(listed.sessions).toContain(session_id);
  });
});
