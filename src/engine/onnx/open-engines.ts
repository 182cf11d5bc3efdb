// The embedded engines as a server uses them: each in a child process of its own. Only main.ts and tools call this.
import { availableParallelism } from 'node:os';
import type { Log } from '#base/log';
import type { InferenceEngine } from '../inference-engine.ts';
import type { TrainingEngine } from '../training-engine.ts';
import type { ServingPrecision } from './models/serving-graph.ts';
import { openHostedInferenceEngine } from './process/hosted-inference-engine.ts';
import { openHostedTrainingEngine } from './process/hosted-training-engine.ts';
import type { ChildTimings } from './process/supervised-child.ts';
import { DEFAULT_INFERENCE_LIMITS, type InferenceLimits } from './serving/inference-limits.ts';
import type { EngineVocabulary } from './serving/onnx-inference-engine.ts';

const COMMON_TIMINGS = {
  startMs: 600_000, // gigabytes of weights from a cold disk
  heartbeatMs: 10_000,
  stopMs: 5_000,
  readyMs: 30_000, // clients wait about this long before they give up themselves
  restartDelaysMs: [0, 500, 2_000, 10_000, 30_000], // the first is often an out-of-memory kill: go on at once
  healthyMs: 60_000,
};

/** A step is at most one prefill chunk or one decode of a full batch. */
export const INFERENCE_TIMINGS: ChildTimings = { ...COMMON_TIMINGS, hangMs: 120_000 };
/** A step is one row forward and backward, and the first of its length compiles a graph. */
export const TRAINING_TIMINGS: ChildTimings = { ...COMMON_TIMINGS, hangMs: 1_200_000 };

export interface OpenEngineOptions {
  /** Hugging Face layout: config.json and safetensors. */
  readonly modelDirectory: string;
  readonly log: Log;
  /** Default: the cores of this machine. */
  readonly threads?: number;
  readonly timings?: ChildTimings;
}

export interface OpenInferenceOptions extends OpenEngineOptions {
  /** Default: float32. */
  readonly precision?: ServingPrecision;
  readonly limits?: Partial<InferenceLimits>;
  /** For constraints on answers; without it they are refused. */
  readonly vocabulary?: EngineVocabulary;
}

export interface OpenTrainingOptions extends OpenEngineOptions {
  /** For the rows of a job, beside the weights. Default: 40 % of the machine's memory. */
  readonly memoryBytes?: number;
  /** A limit of the row's length below the memory's. */
  readonly rowLengthMax?: number;
  /** Written into adapter_config.json as base_model_name_or_path. */
  readonly baseModelName?: string;
}

/** Resolves when the model is loaded. Codes: `bad_model_files`, `engine_unavailable`. */
export function openInferenceEngine(options: OpenInferenceOptions): Promise<InferenceEngine> {
  const { modelDirectory, log, threads = availableParallelism(), timings = INFERENCE_TIMINGS } = options;
  const { precision = 'float32' } = options;
  const limits = { ...DEFAULT_INFERENCE_LIMITS, ...options.limits };
  const { vocabulary = null } = options;
  return openHostedInferenceEngine({ modelDirectory, threads, precision, limits, vocabulary, timings, log });
}

/** Resolves when the model is loaded. Codes: `bad_model_files`, `engine_unavailable`. */
export function openTrainingEngine(options: OpenTrainingOptions): Promise<TrainingEngine> {
  const { modelDirectory, log, threads = availableParallelism(), timings = TRAINING_TIMINGS } = options;
  const { memoryBytes = null, rowLengthMax = null, baseModelName = null } = options;
  const start = { modelDirectory, threads, memoryBytes, rowLengthMax, baseModelName };
  return openHostedTrainingEngine({ ...start, timings, log });
}
