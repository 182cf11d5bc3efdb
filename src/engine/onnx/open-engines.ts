// Opens the embedded engines, each in a child process of its own. Only main.ts and tools call this.
import { availableParallelism } from 'node:os';
import type { Log } from '#base/log';
import {
  NOTHING_REPORTED,
  STATUS_NOTICE,
  type InferenceProcedures,
  type InferenceReady,
  type ReportedStatus,
} from '../rpc/inference-procedures.ts';
import { createRemoteInferenceEngine, type RemoteInferenceEngine } from '../rpc/remote-inference-engine.ts';
import { createRemoteTrainingEngine } from '../rpc/remote-training-engine.ts';
import type { TrainingProcedures, TrainingReady } from '../rpc/training-procedures.ts';
import { TRAINER_NICE } from '../backend.ts';
import type { TrainingEngine } from '../training-engine.ts';
import { forkWorker } from './process/fork-worker.ts';
import { openSupervisedChild, type ChildTimings } from './process/supervised-child.ts';
import type { InferenceStart, TrainingStart } from './start-options.ts';

const COMMON_TIMINGS = {
  startMs: 600_000, // gigabytes of weights from a cold disk
  heartbeatMs: 10_000,
  stopMs: 5_000,
  readyMs: 30_000, // clients give up after about this long
  restartDelaysMs: [0, 500, 2_000, 10_000, 30_000], // the first failure is often an out-of-memory kill: restart at once
  healthyMs: 60_000,
};

/** A step is at most one prefill chunk or one decode of a full batch. */
export const INFERENCE_TIMINGS: ChildTimings = { ...COMMON_TIMINGS, hangMs: 120_000 };
/** A step is one row forward and backward, and the first of its length compiles a graph. */
const TRAINING_TIMINGS: ChildTimings = { ...COMMON_TIMINGS, hangMs: 1_200_000 };

interface ChildOptions {
  readonly log: Log;
  /** Default: the cores of this machine. */
  readonly threads?: number;
  readonly timings?: ChildTimings;
}

type OpenInferenceOptions = ChildOptions & Omit<InferenceStart, 'threads'>;
type OpenTrainingOptions = ChildOptions & Omit<TrainingStart, 'threads'> & { readonly nice?: number };

/** Resolves when the model is loaded. Codes: `bad_model_files`, `engine_unavailable`. */
export async function openInferenceEngine(options: OpenInferenceOptions): Promise<RemoteInferenceEngine> {
  const { log, timings = INFERENCE_TIMINGS, threads = availableParallelism(), ...model } = options;
  let reported: ReportedStatus = NOTHING_REPORTED;
  const child = await openSupervisedChild<InferenceProcedures, InferenceStart, InferenceReady>({
    name: 'inference',
    fork: () => forkWorker('inference'),
    start: { ...model, threads },
    timings,
    log,
    onNotice: (name, payload) => {
      if (name === STATUS_NOTICE) reported = payload as ReportedStatus;
    },
  });
  const { ready } = await child.whenReady();
  const choicesMax = model.limits.maxWaiting + model.limits.maxRunning;
  return createRemoteInferenceEngine(child, { ready, choicesMax, reported: () => reported });
}

/** Resolves when the model is loaded. Codes: `bad_model_files`, `engine_unavailable`. */
export async function openTrainingEngine(options: OpenTrainingOptions): Promise<TrainingEngine> {
  const { log, timings = TRAINING_TIMINGS, threads = availableParallelism(), nice = TRAINER_NICE, ...model } = options;
  const child = await openSupervisedChild<TrainingProcedures, TrainingStart, TrainingReady>({
    name: 'training',
    fork: () => forkWorker('training', nice),
    start: { ...model, threads },
    timings,
    log,
  });
  return createRemoteTrainingEngine(child, (await child.whenReady()).ready);
}
