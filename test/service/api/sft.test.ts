// SFT jobs over HTTP: what is accepted, where the data is looked up, and the errors for bad data. Jobs are planned as the job
// runner plans them, and not trained here.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readSftLine } from '#rows/sft';
import type { ConversationRow, SftJobBody } from '#domain/sft';
import { parseSealedJson } from '#services/jobs/data/sealed-json';
import { readDataset, readRows } from '#services/jobs/data/sft-dataset';
import { listOf } from '../../support/training/planned-sft.ts';
import { asOwner, BASE, containing, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';

let server: TestServer;
let model_id: string;
beforeAll(async () => {
  server = await openTestServer();
  const body = { project: 'p', name: 'pupil', base_model: BASE };
  model_id = (await send(server, { url: '/v1/preview/models', body })).json<{ id: string }>().id;
});
afterAll(() => server.close());
afterEach(async () => {
  const list = await send(server, { url: '/v1/preview/training-jobs?status=queued' });
  for (const { id } of list.json<{ data: { id: string }[] }>().data)
    await send(server, { method: 'POST', url: `/v1/preview/training-jobs/${id}/cancel` });
});

const ROW = {
  messages: [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ],
};
let uploads = 0;

/** Returns the URI of a new artifact. */
async function upload(files: Readonly<Record<string, string>>): Promise<string> {
  const name = `data-${uploads++}`;
  for (const [path, payload] of Object.entries(files)) {
    const url = `/v1/artifacts/default/p/${name}:draft/${path}`;
    expect((await server.app.inject({ method: 'PUT', url, headers: asOwner, payload })).statusCode).toBe(200);
  }
  const manifest = {
    files: Object.entries(files).map(([path, content]) => ({
      path,
      sha256: createHash('sha256').update(content).digest('hex'),
    })),
  };
  const made = await send(server, { method: 'PUT', url: `/v1/artifacts/default/p/${name}`, body: manifest });
  expect(made.statusCode, made.body).toBe(201);
  return made.json<{ uri: string }>().uri;
}

const submit = (body: object) => send(server, { url: '/v1/preview/sft-training-jobs', body: { model_id, ...body } });

async function bodyOf(job: string): Promise<SftJobBody> {
  const { bodyBlob } = (await server.storage.jobs.find(job))!;
  return parseSealedJson<SftJobBody>((await server.blobs.find(bodyBlob))!)!.value;
}

async function read(uri: string) {
  const response = await submit({ training_data_url: uri });
  expect(response.statusCode, response.body).toBe(200);
  const { dataset } = await bodyOf(response.json<{ id: string }>().id);
  return listOf(readRows(await readDataset(server, dataset), dataset, readSftLine));
}

describe('submitting', () => {
  test('fixes the version, stores the settings, and makes a job of its own type', async () => {
    const uri = await upload({ 'train.jsonl': JSON.stringify(ROW) });
    const config = {
      batch_size: 3,
      learning_rate: [1e-4, '2e-4', 0],
      assistant_turns: 'last',
      metric_logging: { enabled: true, target_training_step: 1, every: 10 },
      validation_split: 0.1,
      epochs: 3,
      packing: false,
      lr_scheduler_type: 'constant',
      warmup_steps: 0,
      eval_steps: 2,
      early_stopping_patience: 3,
      early_stopping_threshold: 0.01,
      load_best_model_at_end: false,
      unheard_of: 1,
    };
    const response = await submit({
      training_folder_url: uri.replace(':v0', ':latest'),
      config,
      experimental_config: { seed: 1 },
    });
    expect(response.statusCode, response.body).toBe(200);
    const { id, warnings } = response.json<{ id: string; warnings: string[] }>();
    expect(warnings).toEqual([
      containing('config.unheard_of'),
      containing('config.metric_logging.every'),
      containing('experimental_config.seed'),
    ]);
    expect((await send(server, { url: `/v1/preview/training-jobs/${id}` })).json()).toMatchObject({
      type: 'sft',
      status: 'queued',
    });
    expect(await bodyOf(id)).toEqual({
      dataset: {
        entity: 'default',
        project: 'p',
        name: uri.split('/').at(-1)!.split(':')[0],
        version: 0,
        path: 'train.jsonl',
      },
      config: {
        batchSize: 3,
        learningRate: [1e-4, 2e-4, 0],
        assistantTurns: 'last',
        validationSplit: 0.1,
        epochs: 3,
        packs: false,
        schedulerType: 'constant',
        warmupSteps: 0,
        evalSteps: 2,
        earlyStoppingPatience: 3,
        earlyStoppingThreshold: 0.01,
        loadsBest: false,
        logsMetrics: true,
      },
      warnings,
    });
  });

  test('with nulls and auto uses the defaults', async () => {
    const uri = await upload({ 'train.jsonl': '{}' });
    const none = { epochs: null, packing: null, lr_scheduler_type: null, warmup_steps: null, warmup_ratio: null };
    const nulls = { ...none, batch_size: 'auto', learning_rate: null, assistant_turns: null, metric_logging: null };
    for (const config of [nulls, { ...nulls, batch_size: null }, null, undefined]) {
      const response = await submit({ training_data_url: uri.replace('///', '//'), training_folder_url: null, config });
      expect((await bodyOf(response.json<{ id: string }>().id)).config).toEqual({});
    }
  });

  test.each([
    ['no data', {}, ['body', 'training_data_url']],
    ['what is no artifact', { training_data_url: 's3://bucket/train.jsonl' }, ['body', 'training_data_url']],
    [
      'two artifacts',
      { training_data_url: 'artifact:///default/p/x:v0', training_folder_url: 'artifact:///default/p/y:v0' },
      ['body', 'training_folder_url'],
    ],
    [
      'a negative learning rate',
      { training_data_url: 'artifact:///default/p/x:v0', config: { learning_rate: -1e-5 } },
      ['body', 'config', 'learning_rate'],
    ],
    [
      'a learning rate that no model survives',
      { training_data_url: 'artifact:///default/p/x:v0', config: { learning_rate: [1e-4, 1e30] } },
      ['body', 'config', 'learning_rate', 1],
    ],
    [
      'no learning rates',
      { training_data_url: 'artifact:///default/p/x:v0', config: { learning_rate: [] } },
      ['body', 'config', 'learning_rate'],
    ],
    [
      'listed learning rates and another schedule',
      { training_data_url: 'artifact:///default/p/x:v0', config: { learning_rate: [1e-4], warmup_ratio: 0.1 } },
      ['body', 'config', 'warmup_ratio'],
    ],
    [
      'a schedule that nobody knows',
      { training_data_url: 'artifact:///default/p/x:v0', config: { lr_scheduler_type: 'polynomial' } },
      ['body', 'config', 'lr_scheduler_type'],
    ],
    [
      'no epoch',
      { training_data_url: 'artifact:///default/p/x:v0', config: { epochs: 0 } },
      ['body', 'config', 'epochs'],
    ],
    [
      'a batch of none',
      { training_data_url: 'artifact:///default/p/x:v0', config: { batch_size: 0 } },
      ['body', 'config', 'batch_size'],
    ],
    [
      'turns of a third kind',
      { training_data_url: 'artifact:///default/p/x:v0', config: { assistant_turns: 'first' } },
      ['body', 'config', 'assistant_turns'],
    ],
  ])('%s is a 422', async (_, body, loc) => {
    const response = await submit(body);
    expect(response.statusCode, response.body).toBe(422);
    expect(response.json<{ detail: { loc: unknown[] }[] }>().detail[0]!.loc.slice(0, loc.length)).toEqual(loc);
  });

  test.each([
    ['a version that is not there', 'wandb-artifact:///default/p/data-0:v9', 404],
    ['another entity’s', 'wandb-artifact:///others/p/data-0:v0', 404],
    ['a checkpoint', 'wandb-artifact:///default/p/pupil:step0', 400],
  ])('%s is refused', async (_, training_data_url, status) => {
    const response = await submit({ training_data_url });
    expect(response.statusCode, response.body).toBe(status);
  });
});

describe('training data', () => {
  test('is found in both layouts, or as the only file of lines', async () => {
    const line = JSON.stringify(ROW);
    expect(await read(await upload({ 'train.jsonl': line, 'other.jsonl': 'not looked at' }))).toHaveLength(1);
    expect(await read(await upload({ 'trajectories.jsonl': line, 'metadata.json': '{}' }))).toHaveLength(1);
    expect(await read(await upload({ 'deep/data.jsonl': line, 'README.md': 'x' }))).toHaveLength(1);
    const uri = await upload({ 'a.jsonl': line, 'b.jsonl': line });
    expect((await submit({ training_data_url: uri })).json()).toMatchObject({
      detail: containing('train.jsonl or trajectories.jsonl'),
    });
  });

  test('is one conversation per line, with tools, or a trajectory; empty lines and a BOM do not count', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }];
    const choice = { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'b' }, logprobs: null };
    const trajectory = { messages_and_choices: [ROW.messages[0], choice], reward: 1 };
    const text = `\uFEFF${JSON.stringify({ ...ROW, tools })}\n\n  \n${JSON.stringify(trajectory)}\r\n${JSON.stringify({ ...ROW, tools: null, extra: 1 })}`;
    const rows = (await read(await upload({ 'train.jsonl': text }))) as ConversationRow[];
    expect(rows.map(({ tools }) => tools?.length ?? null)).toEqual([1, null, null]);
    for (const { messages } of rows) expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  test('that is bad gets errors with file, line and reason, at most twenty', async () => {
    const bad = [
      '{"messages": [',
      '[]',
      '{}',
      '{"messages": []}',
      JSON.stringify({ messages: [ROW.messages[0]] }),
      JSON.stringify({ messages: [{ role: 'user' }, ROW.messages[1]] }),
      JSON.stringify({ ...ROW, tools: [{ type: 'function' }] }),
    ];
    const lines = [JSON.stringify(ROW), ...bad, ...new Array<string>(20).fill('nonsense')];
    const uri = await upload({ 'train.jsonl': lines.join('\n') });
    const error = await read(uri).catch((reason: unknown) => reason as Error);
    const told = (error as Error).message.split('\n');
    expect(told[0]).toContain('27 lines of default/p/');
    expect(told.slice(1, 8)).toEqual([
      'train.jsonl line 2: is not JSON: Expecting value at character 14',
      'train.jsonl line 3: must be an object',
      containing('train.jsonl line 4: has none of the fields messages, conversations,'),
      containing('train.jsonl line 5: messages: '),
      containing('line 6: the last message must have the role assistant'),
      'train.jsonl line 7: messages.0.content: is missing',
      containing('train.jsonl line 8: tools.0.function'),
    ]);
    expect(told).toHaveLength(22);
    expect(told.at(-1)).toBe('… and 7 more.');
  });

  test('with a line that is too long gets an error, and so do the lines after it', async () => {
    const long = JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(16_000_000) }] });
    const uri = await upload({ 'train.jsonl': '{}' });
    const { id } = (await submit({ training_data_url: uri })).json<{ id: string }>();
    const content = Readable.from([Buffer.from(`${long}\nnonsense\n${JSON.stringify(ROW)}`)]);
    await expect(listOf(readRows(content, (await bodyOf(id)).dataset, readSftLine))).rejects.toThrow(
      /train.jsonl line 1: has more than 16000000 bytes\ntrain.jsonl line 2: is not JSON/,
    );
  });

  test('that is empty, not text, or gone gets an error', async () => {
    await expect(read(await upload({ 'train.jsonl': '\n\n' }))).rejects.toThrow('has no rows in train.jsonl');
    const gone = await upload({ 'train.jsonl': `${JSON.stringify(ROW)}\n` });
    const { id } = (await submit({ training_data_url: gone })).json<{ id: string }>();
    await send(server, { method: 'DELETE', url: `/v1/artifacts/default/p/${gone.split('/').at(-1)!}` });
    await expect(readDataset(server, (await bodyOf(id)).dataset)).rejects.toThrow('was deleted');
  });
});
