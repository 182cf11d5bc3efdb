// The job runner when everything around it dies: after each single operation in turn (a row, a blob, a verb of the engine)
// the "process" is killed, a fresh runner starts on what was stored, and the result must be that of an undisturbed run.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aCaller } from '../a-caller.ts';
import { readSftLine } from '#api/schema/sft';
import { systemClock } from '#base/clock';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import { AppError } from '#domain/errors';
import type { TrainingEvent } from '#domain/training-job';
import type { RlJobBody, Trajectory } from '#domain/trajectory';
import { createLoraAdapter, linearLayers } from '#engine/onnx/learning/lora';
import { createOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { writePeftDirectory } from '#engine/onnx/learning/peft-directory';
import type { TrainingEngine } from '#engine/training-engine';
import { createAccountLimits } from '#services/account-limits';
import { createArtifacts, type Artifacts } from '#services/artifacts';
import { createJobEvents, type JobEvents } from '#services/job-events';
import { createJobRunner } from '#services/job-runner';
import { createTrainingJobs, type TrainingJobs } from '#services/training-jobs';
import type { BlobStore } from '#storage/blobs';
import { createMemoryBlobs } from '#storage/blobs/memory';
import { createMemoryStorage } from '#storage/memory';
import type { Storage } from '#storage/storage';
import { DEFAULT_LORA } from '#training/rl-config';
import type { ConversationEncoder } from '#training/tokenize';
import { writeTinyModel, type TinyModel } from '../serving/tiny-model.ts';

const OWNER = aCaller();
const DEADLINE_MS = 20_000;

const encoder: ConversationEncoder = {
  vocabSize: 260,
  renderPrompt: (messages) => messages.map(({ content }) => `${content as string}\n`).join(''),
  renderClosed: (messages) => messages.map(({ content }) => `${content as string}\n`).join(''),
  turnEnd: '\n',
  encode: (text) => [...text].map((character) => character.charCodeAt(0)),
  tokenId: () => null,
};

const rollout = (reward: number, answer: string): Trajectory => ({
  histories: [
    {
      turns: [
        { kind: 'message', message: { role: 'user', content: 'ask' } },
        {
          kind: 'sampled',
          message: { role: 'assistant', content: answer },
          finishReason: 'stop',
          logprobs: null,
          tokens: encoder.encode(answer),
          promptTokenIds: null,
        },
      ],
      tools: null,
    },
  ],
  reward,
  metrics: {},
});
const BODY: RlJobBody = {
  groups: ['abc', 'xyz'].map((letters) => ({
    trajectories: [...letters].map((letter, i) => rollout(i, letter.repeat(4))),
    exceptionCount: 0,
    metrics: {},
  })),
  config: { learningRate: 1e-2, packedSequenceLength: 8 },
};
/** Asks what other policies say of the rows before it trains. */
const DEMANDING: RlJobBody = {
  ...BODY,
  config: {
    ...BODY.config,
    precalculateLogprobs: true,
    klPenaltyCoefficient: 0.1,
    klReference: { step: 0 },
    scaleLearningRateByRewardStdDev: true,
  },
};
/** Three batches, one of several packed rows; held-out rows are measured at the end. */
const IMITATION = {
  rows: ['abcd', 'abxy', 'zz', 'longer than the others', 'q', 'held out'].map((content) => ({
    messages: [
      { role: 'user', content: 'ask' },
      { role: 'assistant', content },
    ],
  })),
  config: { learningRate: [1e-2, 2e-2, 1e-3], batchSize: 2, validationSplit: 0.17, logsMetrics: true },
};
type JobData = RlJobBody | typeof IMITATION;
const KILLED = [
  ['', BODY],
  [', with other policies,', DEMANDING],
  [', of SFT,', IMITATION],
] as const satisfies readonly (readonly [string, JobData])[];
const NOTHING_TO_LEARN: RlJobBody = {
  groups: [{ trajectories: [rollout(1, 'a'), rollout(1, 'b')], exceptionCount: 0, metrics: {} }],
  config: {},
};

let model: TinyModel;
let engine: TrainingEngine;
let work: string;
beforeAll(async () => {
  model = await writeTinyModel();
  engine = await createOnnxTrainingEngine({ modelDirectory: model.directory, threads: 1, log: silentLog });
  work = await mkdtemp(join(tmpdir(), 'whetstone-runner-'));
});
afterAll(async () => {
  await engine.close();
  await model.remove();
  await rm(work, { recursive: true, force: true });
});

interface World {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly modelId: string;
  readonly jobEvents: JobEvents;
  readonly jobs: TrainingJobs;
  readonly artifacts: Artifacts;
}

async function createWorld(): Promise<World> {
  const [storage, blobs, modelId] = [createMemoryStorage(), createMemoryBlobs(), createId()];
  const directory = await mkdtemp(join(work, 'fresh-'));
  const layers = linearLayers(model.config);
  await writePeftDirectory(directory, createLoraAdapter(layers, DEFAULT_LORA), layers, 'tiny');
  await blobs.putDirectory(`checkpoints/${modelId}/0`, directory);
  await storage.models.create(
    { id: modelId, entity: 'team', project: 'p', name: 'm', baseModel: 'tiny', runId: null, createdAtMs: 0 },
    { id: createId(), modelId, step: 0, metrics: {}, blobPrefix: `checkpoints/${modelId}/0`, createdAtMs: 0 },
  );
  const jobEvents = createJobEvents();
  const limits = createAccountLimits({ storage, clock: systemClock });
  const artifacts = createArtifacts({ storage, blobs, clock: systemClock, log: silentLog, fileBytesMax: 1e6, limits });
  const jobs = createTrainingJobs({
    storage,
    blobs,
    jobEvents,
    clock: systemClock,
    log: silentLog,
    queuedJobsMax: 100,
    recall: (body) => body,
    artifacts,
    limits,
  });
  return { storage, blobs, modelId, jobEvents, jobs, artifacts };
}

/** Counts every call to the wrapped objects; from the `lastCall`-th on, nothing happens any more. */
function createKillSwitch(lastCall: number) {
  let die: () => void = () => {};
  const died = new Promise<void>((resolve) => (die = resolve));
  let calls = 0;
  function wrap<T extends object>(target: T): T {
    return new Proxy(target, {
      get(object, key) {
        const value = Reflect.get(object, key) as unknown;
        if (typeof value === 'object' && value !== null) return wrap(value);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          if (++calls > lastCall) {
            die();
            throw new Error('killed');
          }
          const result = (await Reflect.apply(value, object, args)) as unknown;
          // Sessions of the engine are wrapped too; rows and blobs are plain data.
          return typeof result === 'object' && result !== null && 'optimStep' in result ? wrap(result) : result;
        };
      },
    });
  }
  return { wrap, died, calls: () => calls };
}

/** Runs until the job has ended or the switch kills everything. Sessions that a dead runner left open are closed. */
async function runUntilEnd(world: World, jobId: string, { lastCall = Infinity, failAt = null as number | null } = {}) {
  const kill = createKillSwitch(lastCall);
  const open: { close(): Promise<void> }[] = [];
  const tracked: TrainingEngine = {
    limits: engine.limits,
    status: () => engine.status(),
    close: () => engine.close(),
    async open(options, signal) {
      const session =
        failAt === null
          ? await engine.open(options, signal)
          : failingOnce(await engine.open(options, signal), failures);
      open.push(session);
      return session;
    },
  };
  const failures = { verbsLeft: failAt ?? Infinity };
  const runner = createJobRunner({
    storage: kill.wrap(world.storage),
    blobs: kill.wrap(world.blobs),
    jobEvents: world.jobEvents,
    clock: systemClock,
    log: silentLog,
    workDirectory: join(work, createId()),
    exclusive: true,
    saveEveryMs: 0,
    readSftLine,
    trainerOf: () => ({ engine: kill.wrap(tracked), encoder, preload: async () => {} }),
  });
  await runner.start().catch(() => undefined);
  const ended = (async () => {
    for await (const _ of world.jobs.followEvents(OWNER, jobId, null, AbortSignal.timeout(DEADLINE_MS)));
  })();
  await Promise.race([ended, kill.died]);
  await runner.stop();
  for (const session of open) await session.close().catch(() => undefined);
  return { calls: kill.calls() };
}

/** The engine's process dies at one verb, once. */
function failingOnce<T extends object>(session: T, failures: { verbsLeft: number }): T {
  return new Proxy(session, {
    get(object, key) {
      const value = Reflect.get(object, key) as unknown;
      if (typeof value !== 'function' || key === 'close') return value;
      return (...args: unknown[]) => {
        if (failures.verbsLeft-- === 0)
          return Promise.reject(new AppError('engine_unavailable', 'The training process died.'));
        return Reflect.apply(value, object, args) as unknown;
      };
    },
  });
}

async function outcome({ storage, blobs, modelId, jobs }: World, jobId: string) {
  const job = await jobs.get(OWNER, jobId);
  const { rows } = await jobs.listEvents(OWNER, jobId, { after: null, limit: 100 });
  const checkpoint = await storage.checkpoints.findLatest(modelId);
  const adapter = await blobs.find(`${checkpoint!.blobPrefix}/adapter_model.safetensors`);
  return {
    status: job.status,
    skipped: job.skipped,
    step: checkpoint!.step,
    metrics: { ...checkpoint!.metrics, 'sft/tokens_per_second': null },
    events: rows.map(({ type, data }: TrainingEvent) => ({
      type,
      data: { ...data, tokens_per_second: null, 'sft/tokens_per_second': null },
    })),
    adapter: Buffer.from(adapter!).toString('base64'),
    leftOver: (await blobs.list(`jobs/${jobId}`)).length - 1, // its body stays
  };
}

async function submit({ jobs, modelId, artifacts }: World, body: JobData) {
  if ('groups' in body) return jobs.submitRl(OWNER, body, modelId, createId());
  const name = { entity: 'team', project: 'p', name: 'data' };
  const lines = Readable.from([Buffer.from(body.rows.map((row) => JSON.stringify(row)).join('\n'))]);
  const { sha256 } = await artifacts.upload(OWNER, name, lines, null);
  const files = [{ path: 'train.jsonl', sha256 }];
  await artifacts.commit(OWNER, name, { type: 'dataset', metadata: {}, aliases: [], files });
  return jobs.submitSft(OWNER, { modelId, data: { ...name, version: null }, config: body.config }, createId());
}

async function undisturbed(body: JobData) {
  const world = await createWorld();
  const { id } = await submit(world, body);
  const { calls } = await runUntilEnd(world, id);
  return { calls, expected: await outcome(world, id) };
}

describe('a job', () => {
  test('ends with a checkpoint, its events numbered from start to end', async () => {
    const { expected } = await undisturbed(BODY);
    expect(expected).toMatchObject({ status: 'succeeded', step: 1, leftOver: 0 });
    const types = expected.events.map(({ type }) => type);
    expect(types).toEqual([
      'training_started',
      ...new Array<string>(types.length - 2).fill('gradient_step'),
      'training_ended',
    ]);
    expect(expected.events[0]!.data).toMatchObject({ num_sequences: types.length - 2 });
    expect(types.length).toBeGreaterThan(4);
  });

  test('that has nothing to learn makes a step with the same weights and says why', async () => {
    const before = (await undisturbed(BODY)).expected.adapter;
    const { expected } = await undisturbed(NOTHING_TO_LEARN);
    expect(expected).toMatchObject({ status: 'succeeded', step: 1, skipped: { equal_rewards: 2 } });
    expect(expected.adapter).not.toBe(before);
    expect(expected.events.map(({ type }) => type)).toEqual(['training_started', 'training_ended']);
    expect(expected.events[0]!.data).toMatchObject({ num_sequences: 0, skipped: { equal_rewards: 2 } });
  });

  test.each(KILLED)(
    '%s killed after any single operation goes on in a new process: same events, same bytes',
    async (_, body) => {
      const { calls, expected } = await undisturbed(body);
      expect(calls).toBeGreaterThan(30);
      for (let lastCall = 0; lastCall < calls; lastCall++) {
        const world = await createWorld();
        const { id } = await submit(world, body);
        await runUntilEnd(world, id, { lastCall });
        await runUntilEnd(world, id);
        expect(await outcome(world, id), `killed after ${lastCall} operations`).toEqual({
          ...expected,
          leftOver: expect.any(Number) as number,
        });
      }
    },
    120_000,
  );

  test.each(KILLED)(
    '%s goes on when the training process dies at any verb: same events, same bytes',
    async (_, body) => {
      const { expected } = await undisturbed(body);
      const verbs = 5 * (expected.events.length - 2);
      for (let failAt = 0; failAt < verbs; failAt++) {
        const world = await createWorld();
        const { id } = await submit(world, body);
        await runUntilEnd(world, id, { failAt });
        expect(await outcome(world, id), `died at verb ${failAt}`).toEqual(expected);
      }
    },
    60_000,
  );

  test('that asks for a KL reference which is not there says which', async () => {
    const world = await createWorld();
    const body = { ...BODY, config: { ...BODY.config, klPenaltyCoefficient: 0.1, klReference: { step: 7 } } };
    const { id } = await submit(world, body);
    await runUntilEnd(world, id);
    const failed = await outcome(world, id);
    expect(failed).toMatchObject({ status: 'failed', step: 0 });
    expect(failed.events.at(-1)!.data).toMatchObject({ error_message: expect.stringContaining('step 7') as string });
  });

  test('that is submitted again under its id, because a crash cut off the answer, is there once', async () => {
    const { jobs, modelId, storage } = await createWorld();
    const first = await jobs.submitRl(OWNER, BODY, modelId, 'given');
    expect(await jobs.submitRl(OWNER, BODY, modelId, 'given')).toEqual(first);
    expect(await storage.jobs.countQueued(null)).toBe(1);
  });

  test('of SFT on bad data ends before it has trained, and says which lines', async () => {
    const world = await createWorld();
    const bad = { ...IMITATION, rows: [IMITATION.rows[0]!, { messages: [{ role: 'user', content: 'no answer' }] }] };
    const { id } = await submit(world, bad);
    await runUntilEnd(world, id);
    const failed = await outcome(world, id);
    expect(failed).toMatchObject({ status: 'failed', step: 0, leftOver: 0 });
    expect(failed.events).toMatchObject([
      { type: 'training_failed', data: { error_message: expect.stringContaining('train.jsonl line 2: ') as string } },
    ]);
  });

  test('that cannot be run ends in training_failed with its cause', async () => {
    const world = await createWorld();
    const { id } = await submit(world, BODY);
    await world.blobs.delete(`jobs/${id}`);
    await runUntilEnd(world, id);
    const failed = await outcome(world, id);
    expect(failed).toMatchObject({ status: 'failed', step: 0 });
    expect(failed.events.at(-1)).toMatchObject({
      type: 'training_failed',
      data: { error_message: expect.stringContaining('body') as string },
    });
  });

  test('that was cancelled while it waited is never run', async () => {
    const world = await createWorld();
    const { id } = await submit(world, BODY);
    await world.jobs.cancel(OWNER, id);
    await runUntilEnd(world, id);
    expect(await outcome(world, id)).toMatchObject({
      status: 'cancelled',
      step: 0,
      events: [{ type: 'training_failed', data: { error_message: 'cancelled' } }],
    });
    await expect(world.jobs.cancel(OWNER, id)).rejects.toThrow('finished already');
    await expect(world.jobs.get({ ...OWNER, entity: 'others' }, id)).rejects.toThrow('No training job');
  });
});
