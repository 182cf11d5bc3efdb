// No answer, event or record that a tenant can read contains a directory of the server, whatever is wrong with its files.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingEngine } from '#engine/training-engine';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import { prepareFilesystemBlobs } from '#storage/blobs/filesystem';
import { ableTrainer, aJobRunner, noSampler } from '../../support/a-job-runner.ts';
import { BASE, chat, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';
import { openTinyChatModel, type TinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { openStorageInMemory } from '../../support/storage-in-memory.ts';

let root: string;
let model: TinyChatModel;
let engine: TrainingEngine;
let server: TestServer;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'whetstone-paths-'));
  model = await openTinyChatModel(BASE);
  engine = await openOnnxTrainingEngine({
    modelDirectory: model.directory,
    threads: 1,
    memoryBytes: 4e9,
    log: silentLog,
  });
  const blobs = await prepareFilesystemBlobs({ root: join(root, 'blobs') });
  server = await openTestServer({
    given: { storage: await openStorageInMemory(), blobs, model, clock: movingClock() },
  });
});
afterAll(async () => {
  await server.close();
  await engine.close();
  await model.close();
  await rm(root, { recursive: true, force: true });
});

const movingClock = () => ({ now: () => Date.now(), advance: () => {} });

const WEIGHTS = 'adapter_model.safetensors';
const CONFIG = 'adapter_config.json';
const rewrite = async (path: string, change: (bytes: Buffer) => Buffer) =>
  writeFile(path, change(await readFile(path)));

const FAULTS: readonly (readonly [string, (directory: string) => Promise<unknown>])[] = [
  ['weights that are cut off', (at) => rewrite(join(at, WEIGHTS), (bytes) => bytes.subarray(0, 99))],
  [
    'weights that are no numbers',
    (at) => rewrite(join(at, WEIGHTS), (bytes) => bytes.fill(0xff, 8 + Number(bytes.readBigUInt64LE(0)))),
  ],
  ['no weights', (at) => rm(join(at, WEIGHTS))],
  ['a directory in place of the weights', (at) => rm(join(at, WEIGHTS)).then(() => mkdir(join(at, WEIGHTS)))],
  ['a config that is no JSON', (at) => writeFile(join(at, CONFIG), '{')],
  ['a config of another kind', (at) => writeFile(join(at, CONFIG), '{"peft_type": "PROMPT_TUNING"}')],
  ['no config', (at) => rm(join(at, CONFIG))],
  ['no files', (at) => rm(at, { recursive: true })],
];

test.each(FAULTS)('a checkpoint with %s', async (_, damage) => {
  const [id, name] = [createId(), createId()];
  const blobPrefix = `checkpoints/${id}/0`;
  const fresh = await mkdtemp(join(root, 'fresh-'));
  await model.writeFreshAdapter(fresh);
  await server.blobs.putDirectory(blobPrefix, fresh);
  await server.storage.models.create(
    { id, entity: 'default', project: 'p', name, baseModel: BASE, runId: null, createdAtMs: 1 },
    { id: createId(), modelId: id, step: 0, metrics: {}, blobPrefix, fresh: false, createdAtMs: 1 },
  );
  await damage(join(root, 'blobs', blobPrefix));

  const called = `default/p/${name}`;
  const jobUrl = `/v1/preview/training-jobs/${await runJob(id)}`;
  const answers = await Promise.all(
    [
      { url: '/v1/chat/completions', body: chat({ model: called }) },
      { url: '/v1/chat/completions', body: chat({ model: called, stream: true }) },
      {
        url: '/v1/preview/models',
        body: { project: 'p', name: `${name}-fork`, base_model: BASE, from_checkpoint: called },
      },
      { url: `/v1/preview/models/${id}/checkpoints/0/download` },
      { url: `/v1/artifacts/default/p/${name}:step0` },
      { url: `/v1/artifacts/default/p/${name}:step0/${WEIGHTS}` },
      { url: jobUrl },
      { url: `${jobUrl}/events` },
      { url: `${jobUrl}/events`, headers: { accept: 'text/event-stream' } },
      { url: '/v1/system-check' },
    ].map((request) => send(server, request).catch((error: Error) => ({ body: error.message, statusCode: 0 }))),
  );
  expect(answers[0]!.statusCode).toBe(500);
  expect(answers[6]!.body).toContain('"failed"');
  for (const { body } of answers) {
    for (const secret of [root, model.directory, tmpdir(), 'ENOENT', 'EISDIR']) expect(body).not.toContain(secret);
  }
});

/** Returns its id once it has ended. */
async function runJob(model_id: string): Promise<string> {
  const rollout = (reward: number, token: number) => ({
    messages_and_choices: [
      { role: 'user', content: 'a' },
      {
        message: { content: 'b' },
        index: 0,
        finish_reason: 'stop',
        token_ids: [token],
        logprobs: { content: [{ token: `token_id:${token}`, logprob: -1 }] },
      },
    ],
    reward,
  });
  const body = { model_id, trajectory_groups: [{ trajectories: [rollout(0, 7), rollout(1, 8)] }] };
  const submitted = await send(server, { url: '/v1/preview/training-jobs', body });
  const { id } = submitted.json<{ id: string }>();
  const runner = aJobRunner({
    storage: server.storage,
    blobs: server.blobs,
    jobEvents: server.jobEvents,
    clock: movingClock(),
    workDirectory: join(root, 'work'),
    exclusive: true,
    saveEveryMs: 1_000,
    trainerOf: () => ({
      engine,
      encoder: createConversationEncoder(BASE, model.text, 488),
      capabilities: ableTrainer,
      readElsewhere: null,
      ...noSampler,
    }),
  });
  await runner.start();
  await send(server, { url: `/v1/preview/training-jobs/${id}/events`, headers: { accept: 'text/event-stream' } });
  await runner.stop();
  return id;
}
