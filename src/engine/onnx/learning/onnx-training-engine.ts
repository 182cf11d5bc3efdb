// TrainingEngine on ONNX Runtime, in this process: LoRA over frozen float32 weights. ONNX Runtime blocks the thread while
// it computes; process/ hosts this engine in a child so that the server stays responsive.
import { totalmem } from 'node:os';
import { basename, resolve } from 'node:path';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { OpenSessionOptions, TrainingEngine } from '../../training-engine.ts';
import { readDecoderConfig } from '../models/config.ts';
import { loadDecoderWeights } from '../models/parameters.ts';
import { openSafetensors } from '../weights/safetensors.ts';
import type { AdamwState } from './adamw.ts';
import { fusedParameters, takeFusedTensors } from './fused-weights.ts';
import { createGraphCache } from './graph-cache.ts';
import { createLoraAdapter, linearLayers, loraParameters, type LinearLayer, type LoraAdapter } from './lora.ts';
import { createLoraSession, type LoraSessionBase } from './lora-session.ts';
import { findOptimizerFile } from './optimizer-file.ts';
import { readPeftDirectory } from './peft-directory.ts';
import { trainingLimits } from './row-memory.ts';

/** Of the machine's memory, or what its container may use: the rest is for weights, sampling and everything else. */
const DEFAULT_MEMORY_SHARE = 0.4;

export interface OnnxTrainingEngineOptions {
  /** Hugging Face layout: config.json and safetensors. */
  readonly modelDirectory: string;
  readonly threads: number;
  /** For the rows of a job, beside the weights. Default: 40 % of the machine's memory. */
  readonly memoryBytes?: number;
  /** A limit of the row's length below the memory's. */
  readonly rowLengthMax?: number;
  /** Written into adapter_config.json as base_model_name_or_path. Default: the directory's name. */
  readonly baseModelName?: string;
  readonly log: Log;
}

export async function createOnnxTrainingEngine(options: OnnxTrainingEngineOptions): Promise<TrainingEngine> {
  const { modelDirectory, threads, memoryBytes = defaultMemoryBytes(), log } = options;
  const startMs = performance.now();
  const config = await readDecoderConfig(modelDirectory);
  const limits = trainingLimits(config, memoryBytes, options.rowLengthMax);
  const { rowLengthMax } = limits;
  // Tables for more positions than a row can have would only cost memory.
  const rowConfig = { ...config, maxPositions: rowLengthMax };
  const tensors = await loadFusedTensors(modelDirectory, rowConfig);
  const base: LoraSessionBase = {
    layers: linearLayers(config),
    limits: { rowLengthMax, maxPositions: rowLengthMax, vocab: config.vocab },
    graphs: createGraphCache(rowConfig, { threads, memoryPattern: false }),
    weightFeeds: Object.fromEntries(
      fusedParameters(config).map(({ name, shape }) => [name, { data: tensors.get(name)!, dims: shape }]),
    ),
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
        const { adapter, optimizer } = await openAdapter(request, base.layers);
        throwIfAborted(signal);
        return createLoraSession(base, adapter, request.headTokensMax ?? null, optimizer, () => (busy = false));
      } catch (error) {
        busy = false;
        throw error;
      }
    },

    status: () => ({ ready: !closed, busy, restarts: 0, lastFailure: null }),

    async close() {
      closed = true;
      await base.graphs.close();
    },
  };
}

function defaultMemoryBytes(): number {
  const constrained = process.constrainedMemory(); // 0, or beyond the machine's: no limit
  const total = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.floor(total * DEFAULT_MEMORY_SHARE);
}

async function loadFusedTensors(directory: string, config: Parameters<typeof loadDecoderWeights>[0]) {
  const source = await openSafetensors(directory);
  try {
    return takeFusedTensors(config, new Map(await loadDecoderWeights(config, source)));
  } finally {
    await source.close();
  }
}

async function openAdapter(
  { from, lora, resetOptimizer = false }: OpenSessionOptions,
  layers: readonly LinearLayer[],
): Promise<{ adapter: LoraAdapter; optimizer: AdamwState | null }> {
  if (from === null) return { adapter: createLoraAdapter(layers, lora), optimizer: null };
  const adapter = await readPeftDirectory(from, layers);
  const optimizer = resetOptimizer ? null : await findOptimizerFile(from, loraParameters(layers, adapter));
  return { adapter, optimizer };
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new AppError('cancelled', 'Opening the training session was cancelled.');
}
