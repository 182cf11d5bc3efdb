// Several trainers of one base model: parallel jobs, trainers that leave in the middle of a job, and trainers that a row crashes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingEngine, TrainingRow, TrainingSession } from '#engine/training-engine';
import { encodeMessage } from '#engine/rpc/codec';
import { watchRowDeaths } from '#services/jobs/attempt/row-deaths';
import { crossEntropyLoss } from '#training/losses';
import { ableTrainer, aJobRunner, noSampler } from '../../support/a-job-runner.ts';
import { BODY } from '../../support/crash/job-bodies.ts';
import { openJobLab, OWNER, submit, type JobLab, type World } from '../../support/crash/job-lab.ts';
import { aSession } from '../../support/learning/a-session.ts';
import { plainRow } from '../../support/learning/tiny-decoders.ts';
import { createRecordingLog } from '../../support/serving/recording-log.ts';
import { writeTinyModel, type TinyModel } from '../../support/serving/tiny-model.ts';
import { encoder } from '../../support/training/rollouts.ts';
import { callsOf, sayHello } from '../../support/workers/by-hand.ts';
import { openWorkerLab, type WorkerLab } from '../../support/workers/worker-lab.ts';
import { trainRow } from '../../support/learning/one-row.ts';

const SOON = { timeout: 30_000 };
const never = new AbortController().signal;

let model: TinyModel;
let jobLab: JobLab;
let lab: WorkerLab;
let engines: TrainingEngine[];
let work: string;
beforeEach(async () => {
  [model, jobLab] = [await writeTinyModel(), await openJobLab()];
  lab = await openWorkerLab(model.directory, { leaseMs: 300, heartbeatMs: 1_000 });
  work = await mkdtemp(join(tmpdir(), 'whetstone-trainers-'));
  engines = [];
});
afterEach(async () => {
  await lab.close();
  await jobLab.close();
  for (const engine of engines) await engine.close();
  await model.remove();
  await rm(work, { recursive: true, force: true });
});

/** One more trainer; `before` is awaited before rows are trained. */
async function addTrainer(
  before: (rows: readonly TrainingRow[]) => Promise<void> = async () => {},
  declared: { rowsAtOnce?: number } = {},
) {
  const engine = await openOnnxTrainingEngine({
    modelDirectory: model.directory,
    threads: 1,
    memoryBytes: 4e9,
    log: silentLog,
  });
  engines.push(engine);
  const watchSession = (session: TrainingSession): TrainingSession => ({
    rowsAtOnce: session.rowsAtOnce,
    logprobs: (rows) => session.logprobs(rows),
    optimStep: (params) => session.optimStep(params),
    save: (directory, options) => session.save(directory, options),
    close: () => session.close(),
    async forwardBackward(rows, loss) {
      await before(rows);
      return session.forwardBackward(rows, loss);
    },
  });
  const training: TrainingEngine = {
    limits: engine.limits,
    status: () => engine.status(),
    close: () => engine.close(),
    open: async (options, signal) => watchSession(await engine.open(options, signal)),
  };
  return lab.connect({ inference: null, training }, {}, {}, {}, declared);
}

function startRunner({ storage, blobs, jobEvents }: World) {
  const { training } = lab;
  const opened = vi.fn();
  const log = createRecordingLog();
  const engine: TrainingEngine = {
    get limits() {
      return training.limits;
    },
    status: () => training.status(),
    close: () => training.close(),
    open: (options, signal) => (opened(), training.open(options, signal)),
  };
  const runner = aJobRunner({
    ...{ storage, blobs, jobEvents, workDirectory: work, exclusive: true, saveEveryMs: 0, log },
    trainerOf: () => ({
      engine,
      encoder,
      capabilities: ableTrainer,
      readElsewhere: null,
      ...noSampler,
    }),
    trainerRoom: () => {
      const { sessionsMax, ready } = training.status();
      return new Map([['tiny', { jobs: sessionsMax, isReady: ready }]]);
    },
  });
  return { runner, opened, log };
}

async function worldOfTwo() {
  const world = await jobLab.createWorld();
  return { world, other: { ...world, modelId: await jobLab.addModel(world, 'n', 'tiny') } };
}

const statusOf = async (world: World, id: string) => (await world.jobs.get(OWNER, id)).status;
const allEnd = (world: World, ids: readonly string[]) =>
  vi.waitFor(async () => {
    const jobs = await Promise.all(ids.map((id) => world.jobs.get(OWNER, id)));
    expect(jobs).toMatchObject(ids.map(() => ({ status: 'succeeded', errorMessage: null })));
  }, SOON);

/** Resolves for all callers once `count` of them wait. */
function meetingOf(count: number) {
  let arrived = 0;
  let meet = () => {};
  const met = new Promise<void>((resolve) => (meet = resolve));
  return async () => {
    if (++arrived === count) meet();
    await met;
  };
}

test('two trainers of one base model train two of its models at once, and one model’s jobs in order', async () => {
  const { world, other } = await worldOfTwo();
  const meeting = meetingOf(2);
  for (let i = 0; i < 2; i++) await addTrainer(meeting);
  const [first, second] = [(await submit(world, BODY)).id, (await submit(world, BODY)).id];
  const beside = (await submit(other, BODY)).id;
  expect(lab.training.status()).toMatchObject({ ready: true, sessionsMax: 2 });
  const { runner } = startRunner(world);
  await runner.start(); // alone, because two would wait for each other forever
  await allEnd(world, [first, second, beside]);
  await runner.stop();
  const ended = await Promise.all([first, second].map((id) => world.jobs.get(OWNER, id)));
  expect(ended.map(({ step }) => step)).toEqual([1, 2]);
  expect(ended[1]!.startedAtMs!).toBeGreaterThanOrEqual(ended[0]!.endedAtMs!);
});

test('a job whose trainer has left waits for room while the jobs of another trainer continue; a cancelled job does not wait', async () => {
  const { world, other } = await worldOfTwo();
  const third = { ...world, modelId: await jobLab.addModel(world, 'o', 'tiny') };
  let open = () => {};
  const released = new Promise<void>((resolve) => (open = resolve));
  let training = 0;
  const trainers = [];
  for (let i = 0; i < 3; i++) trainers.push(await addTrainer(() => (training++, released)));
  const ids = [(await submit(world, BODY)).id, (await submit(other, BODY)).id, (await submit(third, BODY)).id];
  const { runner, opened, log } = startRunner(world);
  const waiting = () =>
    log.lines.filter(({ event }) => event === 'job.waits_for_trainer').map(({ fields }) => fields['jobId'] as string);
  await runner.start();
  await vi.waitFor(() => expect(training).toBe(3), SOON);
  expect(lab.workers.list().map(({ sessions }) => sessions)).toEqual([1, 1, 1]);
  for (const trainer of trainers.slice(1)) await trainer.leave(0);
  await vi.waitFor(() => expect(waiting()).toHaveLength(2), SOON);
  expect(lab.training.status()).toMatchObject({ sessionsMax: 1, busy: true });
  expect(opened).toHaveBeenCalledTimes(3);
  expect(await Promise.all(ids.map((id) => statusOf(world, id)))).toEqual(['running', 'running', 'running']);

  const [unwanted, wanted] = waiting();
  await world.jobs.cancel(OWNER, unwanted!);
  await vi.waitFor(async () => expect(await statusOf(world, unwanted!)).toBe('cancelled'), SOON);
  await addTrainer();
  await allEnd(world, [wanted!]); // on the new one: the first still holds its own jobs
  open();
  await allEnd(
    world,
    ids.filter((id) => id !== unwanted),
  );
  await runner.stop();
});

const ROW = plainRow([1, 2, 3, 4], { weights: [1, 1, 1] });
const LIMITS = {
  contextLength: 512,
  rowLengthMax: 512,
  memory: { budgetBytes: 1e9, fixedBytes: 0, bytesPerToken: 1, bytesPerPair: 0 },
};

/** With a scripted trainer that computes two rows in parallel. */
async function openByHand(engine: TrainingEngine) {
  const hand = await sayHello(lab, {
    worker: { id: `hand-${performance.now()}`, name: 'hand', version: '1' },
    roles: ['train'],
    sampler: null,
    trainer: { limits: LIMITS, rowsAtOnce: 2 },
  });
  await vi.waitFor(() => expect(lab.training.status().ready).toBe(true), SOON);
  const opening = engine.open(aSession({}), never);
  await vi.waitFor(() => expect(callsOf(hand)).toMatchObject([{ method: 'open' }]), SOON);
  hand.socket.send(encodeMessage([1, 0, { kind: 'return', id: callsOf(hand)[0]!.id, value: 1 }]));
  return { hand, session: await opening };
}

/** A session with a trainer that leaves, by `go`, while it computes the rows; returns what the job sees. */
async function loseTrainer(
  engine: TrainingEngine,
  rows: readonly TrainingRow[],
  go: (socket: WebSocket) => void,
): Promise<unknown> {
  const { hand, session } = await openByHand(engine);
  const computing = session.forwardBackward(rows, crossEntropyLoss).catch((error: unknown) => error);
  await vi.waitFor(() => expect(callsOf(hand)).toHaveLength(2), SOON);
  go(hand.socket);
  const error = await computing;
  await session.close();
  return error;
}

test.each([
  [20, 'succeeded', null],
  [21, 'failed', expect.stringContaining('during each of 20 attempts at this job') as string],
])('at attempt %i, if no earlier one saved anything, a job has %s', async (attempt, status, errorMessage) => {
  await addTrainer();
  const world = await jobLab.createWorld();
  const { id } = await submit(world, BODY);
  for (let crashes = 1; crashes < attempt; crashes++)
    expect(await world.storage.jobs.claim('a server that crashes', 0, 0, { except: [] })).toMatchObject({ id });
  const { runner } = startRunner(world);
  await runner.start();
  await vi.waitFor(async () => expect(await world.jobs.get(OWNER, id)).toMatchObject({ status, errorMessage }), SOON);
  await runner.stop();
});

test('a row during which trainers vanish ends its job the third time', async () => {
  const engine = watchRowDeaths(lab.training);
  const other = plainRow([5, 6, 7], { weights: [1, 1] });
  const terminate = (socket: WebSocket) => socket.terminate();
  const again = { code: 'engine_unavailable', end: { byOthers: 'unknown' } };
  expect(await loseTrainer(engine, [other], terminate)).toMatchObject(again);
  expect(await loseTrainer(engine, [ROW], terminate)).toMatchObject(again);
  expect(await loseTrainer(engine, [ROW], terminate)).toMatchObject(again);
  expect(await loseTrainer(engine, [ROW], terminate)).toMatchObject({
    code: 'engine_failed',
    message: expect.stringMatching(
      /ended 3 times while it computed the same row, of 4 tokens \(it lost its connection/,
    ) as string,
  });
});

test('a row during which trainers leave in an orderly way does not', async () => {
  const engine = watchRowDeaths(lab.training);
  for (let i = 0; i < 4; i++) {
    expect(await loseTrainer(engine, [ROW], (socket) => socket.close(1001))).toMatchObject({
      code: 'engine_unavailable',
      end: { byOthers: true },
    });
  }
});

test('a row counts whichever rows are computed with it; a row computed successfully since is not suspected', async () => {
  const engine = watchRowDeaths(lab.training);
  const [other, third] = [plainRow([5, 6, 7], { weights: [1, 1] }), plainRow([8, 9], { weights: [1] })];
  const terminate = (socket: WebSocket) => socket.terminate();
  const again = { code: 'engine_unavailable', end: { byOthers: 'unknown' } };
  expect(await loseTrainer(engine, [other, ROW], terminate)).toMatchObject(again);
  const trainer = await addTrainer();
  const session = await engine.open(aSession({}), never);
  await trainRow(session, other, crossEntropyLoss);
  await session.close();
  await trainer.leave(0);
  expect(await loseTrainer(engine, [ROW, third], terminate)).toMatchObject(again);
  expect(await loseTrainer(engine, [other, ROW], terminate)).toMatchObject({
    code: 'engine_failed',
    message: expect.stringMatching(/ended 3 times while it computed the same row, of 4 tokens/) as string,
  });
});

test('if rows always fail together, the message says how many there are', async () => {
  const engine = watchRowDeaths(lab.training);
  const other = plainRow([5, 6, 7], { weights: [1, 1] });
  const errors = [];
  for (let i = 0; i < 3; i++) errors.push(await loseTrainer(engine, [other, ROW], (socket) => socket.terminate()));
  expect(errors.at(-1)).toMatchObject({
    code: 'engine_failed',
    message: expect.stringMatching(/the same 2 rows, the longest of 4 tokens/) as string,
  });
});

test('a trainer gets as many rows in one call as it computes in parallel', async () => {
  const rows = [ROW, plainRow([5, 6, 7], { weights: [1, 1] }), plainRow([8, 9], { weights: [1] })];
  const found = [];
  for (const [declared, sizes] of [
    [{}, [1, 1, 1]],
    [{ rowsAtOnce: 2 }, [2, 1]],
    [{ rowsAtOnce: 8 }, [3]],
  ] as const) {
    const calls: number[] = [];
    const trainer = await addTrainer(async ({ length }) => void calls.push(length), declared);
    const session = await lab.training.open(aSession({}), never);
    expect(session.rowsAtOnce).toBe('rowsAtOnce' in declared ? declared.rowsAtOnce : 1);
    found.push([await session.logprobs(rows), await session.forwardBackward(rows, crossEntropyLoss)]);
    expect(calls).toEqual(sizes);
    await session.close();
    await trainer.leave(0);
  }
  expect(found[1]).toEqual(found[0]);
  expect(found[2]).toEqual(found[0]);
});

test('a trainer that returns fewer rows than it was sent has failed', async () => {
  const { hand, session } = await openByHand(lab.training);
  const computing = session.logprobs([ROW, ROW]).catch((error: unknown) => error);
  await vi.waitFor(() => expect(callsOf(hand)).toHaveLength(2), SOON);
  const { id } = callsOf(hand)[1]!;
  hand.socket.send(encodeMessage([2, 0, { kind: 'return', id, value: [new Float32Array(3)] }]));
  expect(await computing).toMatchObject({
    code: 'engine_failed',
    message: 'The worker hand sent something other than the results of 2 rows.',
  });
  hand.socket.close();
});

test('a trainer without shared prefixes that connects after the rows were laid out does not get them', async () => {
  await lab.connect({ inference: null, training: await openTraining() }, {}, { sharedPrefixRows: false });
  expect(lab.training.capabilities).toMatchObject({
    exactTraining: true,
    exactLogprobs: true,
    sharedPrefixRows: false,
  });
  const session = await lab.training.open(aSession({}), never);
  const shared = { ...ROW, segments: Int32Array.of(0, 0, 0, 1), parents: Int32Array.of(-1, 0) };
  await expect(trainRow(session, shared, crossEntropyLoss)).rejects.toMatchObject({
    code: 'engine_unavailable',
    message: expect.stringMatching(/share a prefix/) as string,
  });
  expect((await trainRow(session, ROW, crossEntropyLoss)).loss).toBeGreaterThan(0);
  await session.close();
});

async function openTraining(): Promise<TrainingEngine> {
  const engine = await openOnnxTrainingEngine({
    modelDirectory: model.directory,
    threads: 1,
    memoryBytes: 4e9,
    log: silentLog,
  });
  engines.push(engine);
  return engine;
}

test('a trainer that does not answer in time is let go, and the cause names it', async () => {
  await lab.close();
  lab = await openWorkerLab(model.directory, { leaseMs: 300, heartbeatMs: 1_000, rowMs: 50 });
  let free = () => {};
  await addTrainer(() => new Promise<void>((resolve) => (free = resolve)));
  const session = await lab.training.open(aSession({}), never);
  await expect(trainRow(session, ROW, crossEntropyLoss)).rejects.toMatchObject({
    code: 'engine_unavailable',
    message: 'The worker worker-1 did not answer within 0.05 s. Try again.',
  });
  expect(lab.training.status().lastFailure).toBe('worker-1 did not answer forwardBackward within 0.05 s');
  await session.close(); // at once
  free();
});
