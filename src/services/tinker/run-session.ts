// A training run on a trainer: opened from its saved state, brought up to date with its log, then one operation at a time. Everything in
// memory here can be rebuilt from the log at any time.
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createYielder } from '#base/yield-to-loop';
import { AppError } from '#domain/errors';
import { tinkerRequestBlob } from '#domain/blob-names';
import { TINKER_ALPHA, type TinkerOperation, type TinkerRun } from '#domain/tinker';
import type { TrainerCapabilities } from '#engine/capabilities';
import type { LossProgram } from '#engine/loss-program';
import {
  limitsBeside,
  type OptimizerParams,
  type SessionHolder,
  type TrainingEngine,
  type TrainingRow,
  type TrainingSession,
} from '#engine/training-engine';
import type { BlobStore } from '#storage/blobs';
import type { TinkerStore } from '#storage/tinker-store';
import { evaluateLoss } from '#training/loss-reference';
import { sideBySide } from '#training/side-by-side';
import { tinkerLoss } from '#training/tinker-losses';
import { planDatumRows } from './datum-rows.ts';
import {
  readDatum,
  readForwardBackwardHead,
  writeForwardBackwardOutput,
  type TinkerDatum,
} from './protobuf/forward-backward.ts';
import { readBounded } from './readings.ts';
import type { Replay } from './replay.ts';

/** The trainer of one base model's runs. */
export interface RunTrainer {
  /** Shared with jobs by turns (trainer-turns.ts). */
  readonly engine: TrainingEngine;
  readonly capabilities: () => TrainerCapabilities;
  readonly vocabSize: number;
}

export interface RunSession {
  /** Returns a ForwardBackwardOutput. `unless`: thrown instead, if the request itself is valid. */
  forwardBackward(operation: TinkerOperation, unless: AppError | null): Promise<Uint8Array>;
  optimStep(params: OptimizerParams): Promise<{ gradNorm: number }>;
  /** Saves into the blob store. */
  save(blob: string, resumable: boolean): Promise<{ sizeBytes: number }>;
  close(): Promise<void>;
}

export interface RunSessionDeps {
  readonly storage: { readonly tinker: Pick<TinkerStore, 'beginReading' | 'endReading'> };
  readonly blobs: BlobStore;
  readonly workDirectory: string;
}

export interface RunStart {
  /** A directory with an adapter. */
  readonly from: string;
  readonly resetOptimizer: boolean;
}

export async function openRunSession(
  run: TinkerRun,
  { from, resetOptimizer }: RunStart,
  { operations }: Replay,
  trainer: RunTrainer,
  { storage, blobs, workDirectory }: RunSessionDeps,
  signal: AbortSignal,
  holder: SessionHolder,
): Promise<RunSession> {
  const lora = { rank: run.lora.rank, alpha: TINKER_ALPHA, seed: run.lora.seed }; // used for fresh adapters; this one brings its own
  const session = await trainer.engine.open({ from, lora, resetOptimizer, headTokensMax: null }, signal, holder);

  async function requestOf({ seq }: TinkerOperation): Promise<Uint8Array> {
    const bytes = await blobs.find(tinkerRequestBlob(run.modelId, seq));
    if (bytes) return bytes;
    throw new AppError('damaged_data', `The data of operation ${seq} of ${run.id} is missing from the blob store.`);
  }

  async function planOf(operation: TinkerOperation) {
    const head = readForwardBackwardHead(await requestOf(operation));
    const loss = tinkerLoss(head.lossName, head.config);
    const data: TinkerDatum[] = [];
    const yieldToLoop = createYielder();
    for (const [index, bytes] of head.data.entries()) {
      data.push(readDatum(bytes, index, loss.inputs, head.budget));
      await yieldToLoop();
    }
    const plan = await planDatumRows(data, loss, {
      limits: limitsBeside({ rank: run.lora.rank, onHead: run.lora.unembed === true }, trainer.engine.limits),
      vocabSize: trainer.vocabSize,
      sharing: trainer.capabilities().sharedPrefixRows ? 'shared' : 'separate',
    });
    return { loss, plan, forwardOnly: head.forwardOnly };
  }

  async function forwardBackward(operation: TinkerOperation, unless: AppError | null): Promise<Uint8Array> {
    const { loss, plan, forwardOnly } = await readBounded(storage.tinker, run, operation.seq, () => planOf(operation));
    if (unless) throw unless;
    const logprobs: Float32Array[] = [];
    let sum = 0;
    for await (const group of sideBySide(plan.rows, session)) {
      const rows = group.map(({ row }) => row);
      if (forwardOnly) {
        const found = await session.logprobs(rows);
        logprobs.push(...found);
        sum = rows.reduce((total, row, r) => total + lossOf(loss.program, row, found[r]!), sum);
      } else {
        const results = await session.forwardBackward(rows, loss.program);
        const read = results.flatMap((result) => result.logprobs ?? []);
        // For an engine that does not report them: its weights are the same until the next step.
        logprobs.push(...(read.length === rows.length ? read : await session.logprobs(rows)));
        sum = results.reduce((total, result) => total + result.loss, sum);
      }
    }
    return writeForwardBackwardOutput(plan.spread(logprobs), { 'loss:sum': sum });
  }

  try {
    for (const operation of operations) {
      if (operation.kind === 'optim_step') await session.optimStep(JSON.parse(operation.body) as OptimizerParams);
      else await forwardBackward(operation, null);
    }
  } catch (error) {
    await session.close();
    throw error;
  }

  return {
    forwardBackward,
    optimStep: (params) => session.optimStep(params),
    save: (blob, resumable) => saveTo(blobs, blob, session, resumable, workDirectory),
    close: () => session.close(),
  };
}

/** No entropies: the losses of these runs read none. */
function lossOf(program: LossProgram, { sequenceIds, inputs }: TrainingRow, logprobs: Float32Array): number {
  const entropies = Array.from(logprobs, () => 0);
  const values = { logprobs: [...logprobs], entropies, sequenceIds: [...sequenceIds], inputs };
  return evaluateLoss(program, values).loss;
}

async function saveTo(
  blobs: BlobStore,
  blob: string,
  session: TrainingSession,
  resumable: boolean,
  workDirectory: string,
): Promise<{ sizeBytes: number }> {
  const directory = await mkdtemp(join(workDirectory, 'tinker-'));
  try {
    await session.save(directory, { resumable });
    return await blobs.putDirectory(blob, directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
