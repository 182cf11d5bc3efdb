// Shared by tests of the job runner: a tiny model's real trainer, and worlds to run jobs in, each with a store and one model.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { systemClock } from '#base/clock';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import { createLoraAdapter, linearLayers } from '#model-files/lora';
import type { TrainingPrecision } from '#engine/capabilities';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { writePeftDirectory } from '#model-files/peft-directory';
import type { TrainingEngine } from '#engine/training-engine';
import { createAccountLimits } from '#services/accounts/account-limits';
import { createArtifacts, type Artifacts } from '#services/artifacts/artifacts';
import { createAcceptEvaluation } from '#services/evaluations/accept-evaluation';
import { createJobEvents, type JobEvents } from '#services/jobs/job-events';
import { createTrainingJobs, type TrainingJobs } from '#services/jobs/training-jobs';
import type { BlobStore } from '#storage/blobs';
import { createMemoryBlobs } from '#storage/blobs/memory';
import type { Storage } from '#storage/storage';
import { DEFAULT_LORA, type LoraConfig } from '#domain/lora-config';
import { aCaller } from '../a-caller.ts';
import { EVALUATION_LIMITS } from '../api/test-server.ts';
import { ableTrainer, aJobRunner, noObserver, noSampler } from '../a-job-runner.ts';
import { writeTinyModel } from '../serving/tiny-model.ts';
import { encoder } from '../training/rollouts.ts';
import type { JobData } from './job-bodies.ts';
import { openStorageInMemory } from '../storage-in-memory.ts';

export const OWNER = aCaller();

export interface World {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly modelId: string;
  readonly jobEvents: JobEvents;
  readonly jobs: TrainingJobs;
  readonly artifacts: Artifacts;
}

export interface JobLab {
  readonly engine: TrainingEngine;
  /** Removed by `close`. */
  readonly work: string;
  createWorld(): Promise<World>;
  /** One more model, over any base model of these weights; returns its id. */
  addModel(world: Pick<World, 'storage' | 'blobs'>, name: string, baseModel: string): Promise<string>;
  close(): Promise<void>;
}

/** `lora`: the initial adapter of the models of its worlds. `precision`: of the weights under it. */
export async function openJobLab(
  lora: LoraConfig = DEFAULT_LORA,
  precision: TrainingPrecision = 'float32',
): Promise<JobLab> {
  const model = await writeTinyModel();
  const engine = await openOnnxTrainingEngine({
    modelDirectory: model.directory,
    precision,
    threads: 1,
    memoryBytes: 4e9,
    log: silentLog,
  });
  const work = await mkdtemp(join(tmpdir(), 'whetstone-runner-'));

  async function addModel({ storage, blobs }: Pick<World, 'storage' | 'blobs'>, name: string, baseModel: string) {
    const modelId = createId();
    const directory = await mkdtemp(join(work, 'fresh-'));
    const layers = linearLayers(model.config);
    await writePeftDirectory(directory, createLoraAdapter(layers, lora), layers, 'tiny');
    await blobs.putDirectory(`checkpoints/${modelId}/0`, directory);
    await storage.models.create(
      { id: modelId, entity: 'team', project: 'p', name, baseModel, runId: null, createdAtMs: 0 },
      {
        id: createId(),
        modelId,
        step: 0,
        metrics: {},
        blobPrefix: `checkpoints/${modelId}/0`,
        fresh: true,
        createdAtMs: 0,
      },
    );
    return modelId;
  }

  async function createWorld(): Promise<World> {
    const [storage, blobs] = [await openStorageInMemory(), createMemoryBlobs()];
    const modelId = await addModel({ storage, blobs }, 'm', 'tiny');
    const jobEvents = createJobEvents();
    const limits = createAccountLimits({ storage, clock: systemClock });
    const artifacts = createArtifacts({
      storage,
      blobs,
      clock: systemClock,
      log: silentLog,
      fileBytesMax: 1e8,
      limits,
    });
    const jobs = createTrainingJobs({
      storage,
      blobs,
      jobEvents,
      clock: systemClock,
      log: silentLog,
      queuedJobsMax: 100,
      recall: async function* (groups) {
        yield* groups;
      },
      artifacts,
      acceptEvaluation: createAcceptEvaluation({ artifacts, limits: EVALUATION_LIMITS }),
      limits,
      observer: noObserver,
    });
    return { storage, blobs, modelId, jobEvents, jobs, artifacts };
  }

  return {
    engine,
    work,
    createWorld,
    addModel,
    async close() {
      await engine.close();
      await model.remove();
      await rm(work, { recursive: true, force: true });
    },
  };
}

export async function submit({ jobs, modelId, artifacts }: World, body: JobData) {
  if ('groups' in body) return jobs.submitRl(OWNER, body, modelId, createId());
  const name = { entity: 'team', project: 'p', name: 'data' };
  const rows: readonly unknown[] = 'pairs' in body ? body.pairs : body.rows;
  const lines = Readable.from([Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'))]);
  const { sha256 } = await artifacts.upload(OWNER, name, { content: lines, declaredBytes: null, sha256: null });
  const files = [{ path: 'train.jsonl', sha256 }];
  await artifacts.commit(OWNER, name, { type: 'dataset', metadata: {}, aliases: [], files });
  const request = { modelId, data: { ...name, version: null }, warnings: ['said'] };
  return 'pairs' in body
    ? jobs.submitDpo(OWNER, { ...request, config: body.config }, createId())
    : jobs.submitSft(OWNER, { ...request, config: body.config }, createId());
}

/** Lines of the run named after the model, without times. */
export async function historyOf({ storage }: World) {
  const [run] = (await storage.runs.list({ entity: OWNER.entity }, { after: null, limit: 2 })).rows;
  const lines = run ? await storage.runs.history(run.id, 0, 100) : [];
  const timeless = { _timestamp: null, _runtime: null, 'sft/tokens_per_second': null };
  return lines.map(({ content }) => ({ ...(JSON.parse(content) as Record<string, unknown>), ...timeless }));
}

/** The runner of this world alone, on the lab's own trainer. */
export const labRunner = ({ engine, work }: JobLab, { storage, blobs, jobEvents }: World, saveEveryMs: number) =>
  aJobRunner({
    storage,
    blobs,
    jobEvents,
    workDirectory: join(work, createId()),
    exclusive: true,
    saveEveryMs,
    trainerOf: () => ({
      engine,
      encoder,
      capabilities: ableTrainer,
      readElsewhere: null,
      ...noSampler,
    }),
  });
