import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '#base/clock';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import { tinkerRequestBlob } from '#domain/blob-names';
import { AppError } from '#domain/errors';
import type { OperationKind, TinkerOperation, TinkerRun } from '#domain/tinker';
import type { OptimizerParams, TrainingEngine, TrainingRow, TrainingSession } from '#engine/training-engine';
import { createMemoryBlobs } from '#storage/blobs/memory';
import type { Storage } from '#storage/storage';
import type { TinkerStore } from '#storage/tinker-store';
import { createJobEvents } from '../jobs/job-events.ts';
import { bytesOf } from './protobuf/tensors.ts';
import { createMessage } from './protobuf/wire.ts';
import { createRunWorker, type RunWorker } from './run-worker.ts';
import type { Saves } from './saves.ts';
import { takeTurns } from '../trainer-turns.ts';
import { openStorageInMemory } from '../../../test/support/storage-in-memory.ts';

/** An engine whose only weight is one number, to which a step adds the gradients. */
function createSumEngine() {
  const calls: string[] = [];
  const state = { open: 0, openMost: 0, dies: 0, steps: Promise.resolve() };
  const engine: TrainingEngine = {
    limits: {
      contextLength: 64,
      rowLengthMax: 64,
      memory: { budgetBytes: 1, fixedBytes: 0, bytesPerToken: 0, bytesPerPair: 0 },
    },
    async open({ from }) {
      state.openMost = Math.max(state.openMost, ++state.open);
      const read = (name: string) => readFile(join(from!, name), 'utf8').then(Number);
      let [value, gradients] = [await read('sum'), await read('gradients').catch(() => 0)];
      calls.push(`open ${value}`);
      const session: TrainingSession = {
        rowsAtOnce: 1,
        logprobs: async (rows) => rows.map((row) => row.inputs['weights']!.map(() => value)),
        async forwardBackward([row]: readonly TrainingRow[]) {
          if (state.dies > 0) {
            state.dies--;
            throw new AppError('engine_unavailable', 'gone');
          }
          const weights = row!.inputs['weights']!;
          const sum = weights.reduce((total, x) => total + x, 0);
          gradients += sum;
          calls.push(`data ${sum}`);
          return [{ loss: sum, metrics: {}, logprobs: weights }];
        },
        async optimStep() {
          await state.steps;
          value += gradients;
          calls.push(`step to ${value}`);
          const gradNorm = gradients;
          gradients = 0;
          return { gradNorm };
        },
        async save(directory, how) {
          await writeFile(join(directory, 'sum'), String(value));
          if (how.gradients) await writeFile(join(directory, 'gradients'), String(gradients));
        },
        close: async () => void state.open--,
      };
      return session;
    },
    status: () => ({ ready: true, busy: state.open > 0, sessionsMax: 1, restarts: 0, lastFailure: null }),
    close: async () => {},
  };
  return { engine, calls, state };
}

let work: string;
let workers: RunWorker[];
beforeEach(async () => {
  workers = [];
  work = await mkdtemp(join(tmpdir(), 'whetstone-tinker-'));
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await rm(work, { recursive: true, force: true });
});

const sharing = (engine: TrainingEngine): TrainingEngine =>
  takeTurns(engine, {
    ...{ directory: join(work, 'turns'), keepsGradients: () => true, clock: systemClock, log: silentLog, turnMs: 0 },
  });

async function openWorld() {
  const storage = await openStorageInMemory();
  const blobs = createMemoryBlobs();
  const runEvents = createJobEvents();
  const saves = { save: async () => '{"path":"saved"}' } as unknown as Saves;

  async function addRun(): Promise<TinkerRun> {
    const modelId = createId();
    const blobPrefix = `checkpoints/${modelId}/0`;
    const directory = await mkdtemp(join(work, 'zero-'));
    await writeFile(join(directory, 'sum'), '0');
    await blobs.putDirectory(blobPrefix, directory);
    const about = { entity: 'team', createdAtMs: 0 };
    await storage.models.create(
      { ...about, id: modelId, project: 'tinker', name: modelId, baseModel: 'base', runId: null },
      { id: createId(), modelId, step: 0, metrics: {}, blobPrefix, fresh: true, createdAtMs: 0 },
    );
    const session = { ...about, id: createId(), keyId: 'k' };
    await storage.tinker.createSession({ ...session, tags: [], metadata: {}, seenAtMs: 0, endedAtMs: null });
    return storage.tinker.createRun({
      ...about,
      id: `${session.id}:train:0`,
      sessionId: session.id,
      keyId: 'k',
      modelId,
      baseModel: 'base',
      servedAs: 'base',
      lora: { rank: 1, seed: 1, attention: true, mlp: true },
      resetsOptimizer: false,
      metadata: {},
      attempt: 0,
      waitingFor: null,
      doneSeq: 0,
      stateSeq: 0,
      stateBlob: null,
      usedAtMs: 0,
    });
  }

  async function add(
    run: TinkerRun,
    seq: number,
    kind: OperationKind,
    body: object,
    error: string | null = null,
  ): Promise<void> {
    const operation: TinkerOperation = {
      runId: run.id,
      seq,
      kind,
      bodyHash: '',
      body: JSON.stringify(body),
      status: error === null ? 'queued' : 'failed',
      result: null,
      error,
      category: error === null ? null : 'user',
      createdAtMs: systemClock.now(),
    };
    await storage.tinker.addOperation(operation);
    runEvents.notify(run.id);
    runEvents.notify(null);
  }

  return {
    storage,
    addRun,
    /** As a request that is refused when it arrives. */
    refuse: (run: TinkerRun, seq: number, kind: OperationKind) =>
      add(run, seq, kind, { forwardOnly: false }, 'refused'),
    /** `weight` null: an unusable datum. `knows`: the failure of which the client had read. */
    async data(run: TinkerRun, seq: number, weight: number | null, knows = 0): Promise<void> {
      const tensor = (bytes: Uint8Array, type: number) =>
        createMessage().message(1, bytes).integer(3, type).integers(4, [1]).done();
      const input = (name: string, value: Uint8Array) => createMessage().text(1, name).message(2, value).done();
      const chunk = createMessage()
        .message(
          1,
          createMessage()
            .bytes(1, bytesOf(Int32Array.of(1)))
            .done(),
        )
        .done();
      const datum = createMessage()
        .message(1, chunk)
        .message(2, input('target_tokens', tensor(bytesOf(BigInt64Array.of(2n)), 2)))
        .message(2, input(weight === null ? 'nonsense' : 'weights', tensor(bytesOf(Float32Array.of(weight ?? 0)), 1)))
        .done();
      const request = createMessage().text(1, run.id).integer(2, seq).message(3, datum).text(4, 'cross_entropy').done();
      await blobs.put(tinkerRequestBlob(run.modelId, seq), request);
      await add(run, seq, 'forward_backward', { forwardOnly: false, knows });
    },
    step: (run: TinkerRun, seq: number) => add(run, seq, 'optim_step', {}),
    async work(engine: TrainingEngine, { saveEveryMs = 1e9, storage: seen = storage } = {}): Promise<RunWorker> {
      const capabilities = () => ({
        exactTraining: true,
        exactLogprobs: true,
        sharedPrefixRows: true,
        keepsGradients: true,
      });
      const trainers = new Map([['base', { engine, capabilities, vocabSize: 10 }]]);
      const deps = { storage: seen, blobs, runEvents, saves, clock: systemClock, log: silentLog };
      const worker = createRunWorker({ ...deps, workDirectory: work, saveEveryMs, exclusive: true, trainers });
      workers.push(worker);
      await worker.start();
      return worker;
    },
    ended: (run: TinkerRun, seq: number) =>
      vi.waitFor(
        async () => {
          const operation = await storage.tinker.findOperation(run.id, seq);
          expect(operation?.status).not.toBe('queued');
          return operation!;
        },
        { timeout: 60_000 },
      ),
  };
}

/** As a killed server: no call returns from now on. */
function mortal(storage: Storage): { storage: Storage; kill: () => void } {
  let killed = false;
  const tinker = new Proxy(storage.tinker, {
    get:
      (store, name: keyof TinkerStore) =>
      (...of: unknown[]) =>
        killed ? new Promise(() => {}) : (store[name] as (...of: unknown[]) => unknown)(...of),
  });
  return { storage: { ...storage, tinker }, kill: () => void (killed = true) };
}

test('operations run in the order of their numbers, in whatever order they arrive', async () => {
  const { engine, calls } = createSumEngine();
  const world = await openWorld();
  const run = await world.addRun();
  await world.data(run, 2, 3);
  await world.step(run, 3);
  await world.data(run, 1, 4);
  await world.work(sharing(engine));
  expect(await world.ended(run, 3)).toMatchObject({ status: 'done', result: '{"metrics":{"grad_norm":7}}' });
  expect(calls).toEqual(['open 0', 'data 4', 'data 3', 'step to 7']);
});

test('an acknowledged step survives the end of its server, and so do gradients that no step applied', async () => {
  const world = await openWorld();
  const run = await world.addRun();
  await world.data(run, 1, 5);
  await world.step(run, 2);
  await world.data(run, 3, 2);
  const { storage, kill } = mortal(world.storage);
  await world.work(sharing(createSumEngine().engine), { storage });
  await world.ended(run, 3);
  kill();
  workers = []; // the killed worker never returns
  await world.step(run, 4);
  const { engine, calls } = createSumEngine();
  await world.work(sharing(engine));
  expect(await world.ended(run, 4)).toMatchObject({ status: 'done', result: '{"metrics":{"grad_norm":2}}' });
  expect(calls).toEqual(['open 0', 'data 5', 'step to 5', 'data 2', 'step to 7']);
});

test('a lost trainer is replaced, and the run continues from the saved state', async () => {
  const { engine, calls, state } = createSumEngine();
  const world = await openWorld();
  const run = await world.addRun();
  await world.work(sharing(engine), { saveEveryMs: 0 }); // saved after every step
  await world.data(run, 1, 1);
  await world.step(run, 2);
  await world.ended(run, 2);
  state.dies = 1;
  await world.data(run, 3, 2);
  await world.step(run, 4);
  expect(await world.ended(run, 4)).toMatchObject({ status: 'done' });
  expect(calls).toEqual(['open 0', 'data 1', 'step to 1', 'open 1', 'data 2', 'step to 3']);
});

test('a step with a failed part is not applied, and the next step has none of its gradients', async () => {
  const { engine, calls } = createSumEngine();
  const world = await openWorld();
  const run = await world.addRun();
  await world.data(run, 1, 5);
  await world.data(run, 2, null);
  await world.step(run, 3);
  await world.data(run, 4, 1);
  await world.step(run, 5);
  await world.work(sharing(engine));
  expect(await world.ended(run, 5)).toMatchObject({ status: 'done' });
  expect(await world.ended(run, 2)).toMatchObject({ status: 'failed', category: 'user' });
  expect(await world.ended(run, 3)).toMatchObject({ status: 'failed', category: 'user' });
  expect(calls.at(-1)).toBe('step to 1');
});

test('a client that waits for its turn says behind what, and no longer once it has it', async () => {
  const { engine, state } = createSumEngine();
  const world = await openWorld();
  const trainer = sharing(engine);
  const run = await world.addRun();
  let goOn = () => {};
  state.steps = new Promise((resolve) => (goOn = resolve));
  const from = await mkdtemp(join(work, 'job-'));
  await writeFile(join(from, 'sum'), '0');
  const lora = { rank: 1, alpha: 1, seed: 1 };
  const opening = { from, lora, resetOptimizer: false, headTokensMax: null };
  const holder = { name: { kind: 'job', id: 'j1', entity: 'team' }, onWaiting() {} } as const;
  const job = await trainer.open(opening, new AbortController().signal, holder);
  const stepping = job.optimStep({} as OptimizerParams);
  await world.work(trainer);
  await world.data(run, 1, 1);
  const waitingFor = async () => (await world.storage.tinker.findRun(run.id))?.waitingFor;
  await expect.poll(waitingFor, { timeout: 30_000 }).toEqual({ kind: 'job', id: 'j1' });
  goOn();
  await stepping;
  await job.close();
  await world.ended(run, 1);
  await expect.poll(waitingFor, { timeout: 30_000 }).toBeNull();
});

test('a client that has read of a failed part sends the data of the step again, and the step has only that', async () => {
  const { engine, calls } = createSumEngine();
  const world = await openWorld();
  const run = await world.addRun();
  await world.data(run, 1, 5);
  await world.data(run, 2, null);
  await world.data(run, 3, 7); // a part of the same call
  await world.data(run, 4, 1, 2);
  await world.data(run, 5, 2, 2);
  await world.step(run, 6);
  await world.work(sharing(engine));
  expect(await world.ended(run, 6)).toMatchObject({ status: 'done', result: '{"metrics":{"grad_norm":3}}' });
  expect(await world.ended(run, 3)).toMatchObject({ status: 'failed', category: 'user' });
  expect(calls.at(-1)).toBe('step to 3');
});

test('a request that was refused when it arrived holds up no later one, and may be sent again until one follows it', async () => {
  const { engine, calls } = createSumEngine();
  const world = await openWorld();
  const run = await world.addRun();
  await world.work(sharing(engine));
  await world.refuse(run, 1, 'forward_backward');
  await world.data(run, 1, 2);
  await world.step(run, 2);
  expect(await world.ended(run, 2)).toMatchObject({ status: 'done' });
  await world.refuse(run, 3, 'save_weights');
  await world.refuse(run, 4, 'forward_backward');
  await world.data(run, 5, 4, 4);
  await world.step(run, 6);
  expect(await world.ended(run, 6)).toMatchObject({ status: 'done', result: '{"metrics":{"grad_norm":4}}' });
  expect(await world.ended(run, 4)).toMatchObject({ status: 'failed', error: 'refused' });
  expect(calls.at(-1)).toBe('step to 6');
});

test('clients share one trainer by loans, and a job takes precedence over them', async () => {
  const { engine, calls, state } = createSumEngine();
  const world = await openWorld();
  const trainer = sharing(engine);
  await world.work(trainer);
  const runs = [await world.addRun(), await world.addRun(), await world.addRun()];
  for (let round = 0; round < 3; round++) {
    for (const [i, run] of runs.entries()) {
      await world.data(run, 2 * round + 1, i + 1);
      await world.step(run, 2 * round + 2);
    }
  }
  for (const run of runs) expect(await world.ended(run, 6)).toMatchObject({ status: 'done' });
  for (const sum of [3, 6, 9]) expect(calls).toContain(`step to ${sum}`);
  expect(state.openMost).toBe(1);
  const directory = await mkdtemp(join(work, 'job-'));
  await writeFile(join(directory, 'sum'), '100');
  const lora = { rank: 1, alpha: 1, seed: 1 };
  const options = { from: directory, lora, resetOptimizer: false, headTokensMax: null };
  const job = await trainer.open(options, new AbortController().signal);
  await world.data(runs[0]!, 7, 1);
  await world.step(runs[0]!, 8);
  expect(state.openMost).toBe(1);
  await job.close();
  await world.ended(runs[0]!, 8);
  expect(calls.slice(-3)).toEqual(['open 3', 'data 1', 'step to 4']);
});

test('an operation whose reading ended its server twice fails with that cause, and the run goes on', async () => {
  const world = await openWorld();
  const run = await world.addRun();
  await world.data(run, 1, 5);
  const { tinker } = world.storage;
  for (let death = 0; death < 2; death++) {
    const claimed = await tinker.claimRun('w', { nowMs: systemClock.now(), leaseMs: 0, gapMs: 1e9 }, ['base']);
    await tinker.beginReading(claimed!, 1);
  }
  await world.work(sharing(createSumEngine().engine));
  const failure = {
    status: 'failed',
    category: 'server',
    error: expect.stringContaining('ended 2 times while it read') as unknown,
  };
  expect(await world.ended(run, 1)).toMatchObject(failure);
  await world.step(run, 2);
  await world.data(run, 3, 2);
  expect(await world.ended(run, 3)).toMatchObject({ status: 'done' });
});
