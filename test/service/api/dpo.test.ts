// DPO jobs over HTTP: what is accepted, the effective settings, and what the jobs show. Lines of data are tested in
// preference-pairs.test.ts, artifacts and their names in sft.test.ts.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DpoJobBody } from '#domain/dpo';
import { parseSealedJson } from '#services/jobs/data/sealed-json';
import { asOwner, BASE, containing, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';

const DATA = '{"chosen": [], "rejected": []}\n';
let server: TestServer;
let model_id: string;
let training_data_url: string;
beforeAll(async () => {
  server = await openTestServer();
  const body = { project: 'p', name: 'chooser', base_model: BASE };
  model_id = (await send(server, { url: '/v1/preview/models', body })).json<{ id: string }>().id;
  const url = '/v1/artifacts/default/p/pairs:draft/train.jsonl';
  await server.app.inject({ method: 'PUT', url, headers: asOwner, payload: DATA });
  const files = [{ path: 'train.jsonl', sha256: createHash('sha256').update(DATA).digest('hex') }];
  const made = await send(server, { method: 'PUT', url: '/v1/artifacts/default/p/pairs', body: { files } });
  training_data_url = made.json<{ uri: string }>().uri;
});
afterAll(() => server.close());

const submit = (body: object) =>
  send(server, { url: '/v1/preview/dpo-training-jobs', body: { model_id, training_data_url, ...body } });

test('a job is stored with its version and settings, and is shown as DPO everywhere', async () => {
  const config = { beta: 0.3, loss_type: 'ipo', batch_size: 4, epochs: 2, lr_scheduler_type: 'cosine', wow: 1 };
  const made = await submit({ config });
  expect(made.statusCode, made.body).toBe(200);
  const { id, warnings } = made.json<{ id: string; warnings: string[] }>();
  expect(warnings).toEqual([containing('config.wow is not a field')]);
  const { bodyBlob } = (await server.storage.jobs.find(id))!;
  expect(parseSealedJson<DpoJobBody>((await server.blobs.find(bodyBlob))!)!.value).toMatchObject({
    dataset: { project: 'p', name: 'pairs', version: 0, path: 'train.jsonl' },
    config: { beta: 0.3, lossType: 'ipo', batchSize: 4, epochs: 2, schedulerType: 'cosine' },
  });
  const read = async (path: string) => (await send(server, { url: `/v1/preview/training-jobs${path}` })).json<object>();
  expect(await read(`/${id}`)).toMatchObject({ id, type: 'dpo', status: 'queued' });
  expect(await read('')).toMatchObject({ data: [{ id, type: 'dpo' }] });
  expect(await read(`/${id}/config`)).toMatchObject({
    config: { beta: 0.3, loss_type: 'ipo', label_smoothing: 0, batch_size: 4 },
    as_trained: false,
    input: { kind: 'artifact', uri: training_data_url },
  });
  expect(await read(`/${id}/groups`)).toMatchObject({ error: { message: containing('DPO jobs have their rows') } });
});

test('without settings it uses the defaults; the learning rate is a twentieth of that of SFT', async () => {
  const configOf = async (kind: 'dpo' | 'sft') => {
    const url = `/v1/preview/${kind}-training-jobs`;
    const { id } = (await send(server, { url, body: { model_id, training_data_url } })).json<{ id: string }>();
    const read = await send(server, { url: `/v1/preview/training-jobs/${id}/config` });
    return read.json<{ config: Record<string, unknown> }>().config;
  };
  const { learning_rate, ...config } = await configOf('dpo');
  expect(config).toMatchObject({ beta: 0.1, loss_type: 'sigmoid', batch_size: 8, epochs: 1, packing: true });
  const ofSft = (await configOf('sft'))['learning_rate'] as number;
  expect(learning_rate).toBe(Number((ofSft / 20).toPrecision(2)));
});

test('a config with evaluations while it trains shows their defaults', async () => {
  const configOf = async (config: object) => {
    const { id } = (await submit({ config: { validation_split: 0.25, eval_steps: 5, ...config } })).json<{
      id: string;
    }>();
    const url = `/v1/preview/training-jobs/${id}`;
    const read = await send(server, { url: `${url}/config` });
    await send(server, { url: `${url}/cancel`, body: {} }); // only a few may wait
    return read.json<{ config: object }>().config;
  };
  const none = { early_stopping_patience: null, early_stopping_threshold: 0, load_best_model_at_end: false };
  expect(await configOf({})).toMatchObject({ eval_steps: 5, metric_for_best_model: 'val/loss', ...none });
  const stopping = { early_stopping_patience: 3, early_stopping_threshold: 0.01 };
  expect(await configOf(stopping)).toMatchObject({ ...stopping, load_best_model_at_end: true });
  const asked = { ...stopping, metric_for_best_model: 'val/rewards/margins', load_best_model_at_end: false };
  expect(await configOf(asked)).toMatchObject(asked);
});

test('repeats with an Idempotency-Key make one job', async () => {
  const headers = { ...asOwner, 'idempotency-key': 'once' };
  const url = '/v1/preview/dpo-training-jobs';
  const [first, second] = [1, 2].map(() =>
    server.app.inject({ method: 'POST', url, headers, payload: { model_id, training_data_url } }),
  );
  expect((await first!).json()).toEqual((await second!).json());
});

test.each([
  ['a beta of 0', { beta: 0 }, ['body', 'config', 'beta']],
  ['a loss that is not offered', { loss_type: 'orpo' }, ['body', 'config', 'loss_type']],
  ['more wrong labels than right ones', { label_smoothing: 0.5 }, ['body', 'config', 'label_smoothing']],
  [
    'a label smoothing that the loss does not know',
    { loss_type: 'ipo', label_smoothing: 0.1 },
    ['body', 'config', 'label_smoothing'],
  ],
  ['evaluations of nothing', { eval_steps: 1 }, ['body', 'config', 'eval_steps']],
  [
    'patience without evaluations',
    { validation_split: 0.5, early_stopping_patience: 1 },
    ['body', 'config', 'early_stopping_patience'],
  ],
  [
    'a threshold without patience',
    { validation_split: 0.5, eval_steps: 1, early_stopping_threshold: 0.1 },
    ['body', 'config', 'early_stopping_threshold'],
  ],
  [
    'the best of no evaluations',
    { validation_split: 0.5, load_best_model_at_end: true },
    ['body', 'config', 'load_best_model_at_end'],
  ],
  [
    'a metric that nothing is compared by',
    { metric_for_best_model: 'val/loss' },
    ['body', 'config', 'metric_for_best_model'],
  ],
  ['a metric that is not measured', { metric_for_best_model: 'val/f1' }, ['body', 'config', 'metric_for_best_model']],
  ['two schedules', { learning_rate: [1e-3], warmup_ratio: 0.1 }, ['body', 'config', 'warmup_ratio']],
])('%s is refused', async (_, config, loc) => {
  const refused = await submit({ config });
  expect(refused.statusCode).toBe(422);
  expect(refused.json<{ detail: { loc: string[] }[] }>().detail[0]!.loc.slice(0, loc.length)).toEqual(loc);
});

test('data that does not exist, or is not named, is refused', async () => {
  expect((await submit({ training_data_url: 'wandb-artifact:///default/p/none:v0' })).statusCode).toBe(404);
  expect((await submit({ training_data_url: null })).statusCode).toBe(422);
});
