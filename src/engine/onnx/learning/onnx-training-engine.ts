// TrainingEngine on ONNX Runtime, in this process: LoRA over frozen float32 weights. ONNX Runtime blocks the thread while
// it computes; process/ hosts this engine in a child so that the server stays responsive.
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

/** Attention keeps heads · row² · layers floats for the backward pass: 7.5 GB at this length for a 0.6B model. */
const DEFAULT_MAX_ROW_LENGTH = 2048;

export interface OnnxTrainingEngineOptions {
  /** Hugging Face layout: config.json and safetensors. */
  readonly modelDirectory: string;
  readonly threads: number;
  readonly maxRowLength?: number;
  /** Written into adapter_config.json as base_model_name_or_path. Default: the directory's name. */
  readonly baseModelName?: string;
  readonly log: Log;
}

export async function createOnnxTrainingEngine(options: OnnxTrainingEngineOptions): Promise<TrainingEngine> {
  const { modelDirectory, threads, maxRowLength = DEFAULT_MAX_ROW_LENGTH, log } = options;
  const startMs = performance.now();
  const config = await readDecoderConfig(modelDirectory);
  // Tables for more positions than a row can have would only cost memory.
  const maxPositions = Math.min(config.maxPositions, maxRowLength);
  const rowConfig = { ...config, maxPositions };
  const tensors = await loadFusedTensors(modelDirectory, rowConfig);
  const base: LoraSessionBase = {
    layers: linearLayers(config),
    limits: { maxRowLength, maxPositions, vocab: config.vocab },
    graphs: createGraphCache(rowConfig, { threads, memoryPattern: false }),
    weightFeeds: Object.fromEntries(
      fusedParameters(config).map(({ name, shape }) => [name, { data: tensors.get(name)!, dims: shape }]),
    ),
    baseModelName: options.baseModelName ?? basename(resolve(modelDirectory)),
  };
  log.info('training_engine.ready', { loadMs: Math.round(performance.now() - startMs), maxRowLength, threads });

  let busy = false;
  let closed = false;

  return {
    maxRowLength,

    async open(request, signal) {
      if (closed) throw new AppError('engine_unavailable', 'The training engine is closed.');
      if (busy) throw new AppError('engine_unavailable', 'The training engine already has an open session.');
      busy = true;
      try {
        throwIfAborted(signal);
        const { adapter, optimizer } = await openAdapter(request, base.layers);
        throwIfAborted(signal);
        return createLoraSession(base, adapter, optimizer, () => (busy = false));
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
