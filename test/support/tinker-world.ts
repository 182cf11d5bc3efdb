// Training runs of Tinker clients over a storage in memory and an engine that adds numbers, with the worker that executes them.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { systemClock } from '#base/clock';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import { tinkerRequestBlob } from '#domain/blob-names';
import { AppError } from '#domain/errors';
import type { OperationKind, TinkerOperation, TinkerRun } from '#domain/tinker';
import type { TrainingEngine, TrainingRow, TrainingSession } from '#engine/training-engine';
import { createJobEvents } from '#services/jobs/job-events';
import { takeTurns } from '#services/trainer-turns';
import { bytesOf } from '#services/tinker/protobuf/tensors';
import { createMessage } from '#services/tinker/protobuf/wire';
import { createRunWorker, type RunWorker } from '#services/tinker/run-worker';
import type { Saves } from '#services/tinker/saves';
import { createMemoryBlobs } from '#storage/blobs/memory';
import { openStorageInMemory } from './storage-in-memory.ts';

/** An engine whose only weight is one number, to which a step adds the gradients. */
export function createSumEngine() {
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

/** `directory`: of the test, which is removed after it, when its workers have stopped. */
export async function openTinkerWorld() {
  const work = await mkdtemp(join(tmpdir(), 'whetstone-tinker-'));
  let workers: RunWorker[] = [];
  onTestFinished(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await rm(work, { recursive: true, force: true });
  });
  const storage = await openStorageInMemory();
  const blobs = createMemoryBlobs();
  const runEvents = createJobEvents();
  const saves = { save: async () => '{"path":"saved"}' } as unknown as Saves;

  async function addRun(run: Partial<TinkerRun> = {}): Promise<TinkerRun> {
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
      ...run,
    });
  }

  async function add(
    run: TinkerRun,
    seq: number,
    kind: OperationKind,
    body: object,
    { error = null as string | null, createdAtMs = systemClock.now() } = {},
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
      createdAtMs,
    };
    await storage.tinker.addOperation(operation);
    runEvents.notify(run.id);
    runEvents.notify(null);
  }

  return {
    directory: work,
    storage,
    blobs,
    runEvents,
    addRun,
    /** A trainer that several share. */
    sharing: (engine: TrainingEngine): TrainingEngine =>
      takeTurns(engine, {
        ...{
          directory: join(work, 'turns'),
          keepsGradients: () => true,
          clock: systemClock,
          log: silentLog,
          turnMs: 0,
        },
      }),
    /** A killed worker never returns. */
    abandonWorkers: () => void (workers = []),
    /** As a request that is refused when it arrives. */
    refuse: (run: TinkerRun, seq: number, kind: OperationKind) =>
      add(run, seq, kind, { forwardOnly: false }, { error: 'refused' }),
    /** `weight` null: an unusable datum. `knows`: the failure of which the client had read. */
    async data(
      run: TinkerRun,
      seq: number,
      weight: number | null,
      knows = 0,
      { forwardOnly = false, createdAtMs = systemClock.now() } = {},
    ): Promise<void> {
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
      const request = createMessage().text(1, run.id).integer(2, seq).message(3, datum).text(4, 'cross_entropy');
      if (forwardOnly) request.integer(6, 1);
      await blobs.put(tinkerRequestBlob(run.modelId, seq), request.done());
      await add(run, seq, 'forward_backward', { forwardOnly, knows }, { createdAtMs });
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
