// TrainingEngine on ONNX Runtime, in this process: LoRA over frozen weights, in float32 or 8 bits. ONNX Runtime blocks the thread while
// it computes; process/ runs this engine in a child process so that the server stays responsive.
import { basename, resolve } from 'node:path';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import { readDecoderConfig } from '#model-files/decoder-config';
import { createLoraAdapter, linearLayers, loraParameters, type LinearLayer, type LoraAdapter } from '#model-files/lora';
import { readPeftDirectory } from '#model-files/peft-directory';
import type { TrainingPrecision } from '../../capabilities.ts';
import type { OpenSessionOptions, TrainingEngine } from '../../training-engine.ts';
import { createLoraSession, type LoraSessionBase, type ResumedTraining } from './lora-session.ts';
import { findGradientsFile, findOptimizerFile } from './optimizer-file.ts';
import { activationsFor, trainingLimits } from './row-memory.ts';
import { createTrainingGraphRunner } from './training-graph-runner.ts';
import { trainingLayout } from '../weights/weight-layout.ts';
import { openWeights, type WeightsPlace } from '../weights/weights.ts';

/**
 * Between two jobs of a loop lie its rollouts, from seconds to minutes, and compiling takes 3 to 7 s of processor time. The memory
 * that the graph holds meanwhile is planned for training anyway; another graph takes its place at once.
 */
const DEFAULT_GRAPH_IDLE_MS = 15 * 60_000;

export interface OnnxTrainingEngineOptions {
  /** Hugging Face layout: config.json and safetensors. */
  readonly modelDirectory: string;
  readonly threads: number;
  /** Precision of the frozen weights. Default: float32. */
  readonly precision?: TrainingPrecision;
  readonly weights?: WeightsPlace;
  /** For the rows of a job, in addition to the weights. */
  readonly memoryBytes: number;
  /** A limit on the row's length below what memory allows. */
  readonly rowLengthMax?: number;
  /** Written into adapter_config.json as base_model_name_or_path. Default: the directory's name. */
  readonly baseModelName?: string;
  /** How long the compiled graph of a closed session is kept for a similar one. Default: 15 minutes. */
  readonly graphIdleMs?: number;
  readonly log: Log;
}

export async function openOnnxTrainingEngine(options: OnnxTrainingEngineOptions): Promise<TrainingEngine> {
  const { modelDirectory, threads, precision = 'float32', memoryBytes, log } = options;
  const startMs = performance.now();
  const config = await readDecoderConfig(modelDirectory);
  const limits = trainingLimits(config, memoryBytes, options.rowLengthMax, precision);
  const { rowLengthMax } = limits;
  // The kernel refuses rows longer than its rotary tables, even if no position in them is beyond the context.
  const rowConfig = { ...config, maxPositions: rowLengthMax };
  const weights = await openWeights({ modelDirectory, layout: trainingLayout(config, precision), ...options.weights });
  const base: LoraSessionBase = {
    layers: linearLayers(config),
    limits: { rowLengthMax, maxPositions: Math.min(rowLengthMax, limits.contextLength), vocab: config.vocab },
    graphs: createTrainingGraphRunner(rowConfig, {
      threads,
      memoryPattern: false,
      idleMs: options.graphIdleMs ?? DEFAULT_GRAPH_IDLE_MS,
      frozen: { weights, precision },
    }),
    activationsFor: (tokens, adapter) => activationsFor(config, memoryBytes, tokens, adapter, precision),
    baseModelName: options.baseModelName ?? basename(resolve(modelDirectory)),
  };
  log.info('training_engine.ready', { loadMs: Math.round(performance.now() - startMs), rowLengthMax, threads });

  let busy = false;
  let closed = false;

  return {
    limits,

    async open(request, signal) {
      if (closed) throw new AppError('engine_unavailable', 'The training engine is closed.');
      if (busy) throw new AppError('engine_unavailable', 'The training engine already has an open session.');
      busy = true;
      try {
        throwIfAborted(signal);
        const { adapter, resumed } = await readAdapter(request, base.layers);
        throwIfAborted(signal);
        return createLoraSession(base, adapter, request.headTokensMax, resumed, () => (busy = false));
      } catch (error) {
        busy = false;
        throw error;
      }
    },

    status: () => ({ ready: !closed, busy, sessionsMax: 1, restarts: 0, lastFailure: null }),

    async close() {
      closed = true;
      await base.graphs.close();
    },
  };
}

async function readAdapter(
  { from, lora, resetOptimizer }: OpenSessionOptions,
  layers: readonly LinearLayer[],
): Promise<{ adapter: LoraAdapter; resumed: ResumedTraining }> {
  const nothing = { optimizer: null, gradients: null };
  if (from === null) return { adapter: createLoraAdapter(layers, lora), resumed: nothing };
  const adapter = await readPeftDirectory(from, layers);
  if (resetOptimizer) return { adapter, resumed: nothing };
  const parameters = loraParameters(layers, adapter);
  const optimizer = await findOptimizerFile(from, parameters);
  return { adapter, resumed: { optimizer, gradients: await findGradientsFile(from, parameters) } };
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new AppError('cancelled', 'Opening the training session was cancelled.');
}
