// The memory that training a row takes, from the model's sizes, and which activations are kept for the backward pass:
// all of them if they fit, otherwise only the inputs of half layers. An estimate for planning rows, within 15 % of measurements
// (bench/training-memory.ts); knows no machine.
import type { DecoderConfig } from '#model-files/decoder-config';
import { HEAD_MODULE } from '#model-files/decoder-parameters';
import { linearLayers } from '#model-files/lora';
import type { TrainingPrecision } from '../../capabilities.ts';
import {
  adapterMemoryOf,
  longestRow,
  rowMemoryOf,
  type AdapterSize,
  type RowMemory,
  type TrainingLimits,
} from '../../training-engine.ts';
import type { Activations } from './train-graph.ts';
import { headChunk, QUERY_BLOCK_MAX } from './train-feeds.ts';

const FLOAT = 4;
/** Memory of a compiled graph per layer, whatever the row: measured. */
const LAYER_BYTES = 3.5e6;
/** For B of an adapter on the head, `[vocab, rank]`: the sum so far, a chunk's part, and both of the next round. */
const HEAD_GRADIENTS = 4;
/**
 * For an adapter: itself, two moments, the sum of its gradients, and a row's gradients three times: as the graph returns them, as they
 * are read, and those of the row before until they are collected. Measured with ranks of 8 and 256: 7.0 times.
 */
const ADAPTER_COPIES = 7;
/** Longer sequences and rows are not trained, whatever the model reads and memory holds, as in the reference trainer. */
const LENGTH_MAX = 32_768;

/** `budgetBytes`: for rows, in addition to the weights. `rowLengthMax`: an operator's lower limit. `precision`: of frozen weights. */
export function trainingLimits(
  config: DecoderConfig,
  budgetBytes: number,
  rowLengthMax = Infinity,
  precision: TrainingPrecision = 'float32',
): TrainingLimits {
  const perRank = bytesPerRank(config);
  const phases = phasesOf(config, 'recomputed', precision).map((phase) => ({ budgetBytes, ...phase, ...perRank }));
  const [memory] = phases.sort((a, b) => longestRow(a) - longestRow(b)) as [TrainingLimits['memory']]; // the limiting one
  return {
    contextLength: Math.min(config.maxPositions, LENGTH_MAX),
    rowLengthMax: Math.min(LENGTH_MAX, rowLengthMax, longestRow(memory)),
    memory,
  };
}

/** Recomputing takes up to a fifth more time; gradients are the same, bit for bit. */
export const activationsFor = (
  config: DecoderConfig,
  budgetBytes: number,
  tokens: number,
  adapter: AdapterSize = NO_ADAPTER,
  precision: TrainingPrecision = 'float32',
): Activations => (rowBytes(config, 'kept', tokens, adapter, precision) <= budgetBytes ? 'kept' : 'recomputed');

/** The peak of a row's forward and backward pass, in addition to what training holds for its adapter. */
export const rowBytes = (
  config: DecoderConfig,
  activations: Activations,
  tokens: number,
  adapter: AdapterSize = NO_ADAPTER,
  precision: TrainingPrecision = 'float32',
): number => {
  const rows = phasesOf(config, activations, precision).map((phase) => rowMemoryOf(tokens, phase));
  return Math.max(...rows) + adapterMemoryOf(adapter, bytesPerRank(config));
};

const NO_ADAPTER: AdapterSize = { rank: 0, onHead: false };

function bytesPerRank(config: DecoderConfig) {
  const floats = (onHead: boolean): number =>
    linearLayers(config)
      .filter(({ target }) => (target === HEAD_MODULE) === onHead)
      .reduce((sum, { inFeatures, outFeatures }) => sum + inFeatures + outFeatures, 0);
  return {
    bytesPerRank: FLOAT * ADAPTER_COPIES * floats(false),
    headBytesPerRank: FLOAT * (ADAPTER_COPIES * floats(true) + HEAD_GRADIENTS * config.vocab),
  };
}

/** The two moments of a step that may be its peak. Both include what layers keep, and the row's mask. */
function phasesOf(config: DecoderConfig, activations: Activations, precision: TrainingPrecision): readonly RowMemory[] {
  const { layers, hidden, heads, kvHeads, headDim, intermediate, experts, vocab } = config;
  const attention = heads * headDim;
  const qkv = attention + 2 * kvHeads * headDim;
  // Per layer: residuals and outputs of norms; q, k, v as projected, before and after norm and rotation; attention's output;
  // gate, up and their products. The factor of one half more is for the arena: not all of its buffers of many sizes are reused.
  const everything = 4.5 * hidden + 3 * qkv + 1.5 * attention;
  // Of experts only the router's output: what they compute is always recomputed.
  const mixtures = experts?.layers.filter(Boolean).length ?? 0;
  const mlps = 5.5 * intermediate * (layers - mixtures) + (experts ? 6 * experts.count + hidden : 0) * mixtures;
  const kept = activations === 'kept' ? layers * everything + mlps : layers * 2 * hidden;
  const phase = (fixed: number, perToken: number): RowMemory => ({
    fixedBytes: layers * LAYER_BYTES + FLOAT * fixed,
    // The mask: no token sees one that comes later in the row, except in its own block.
    bytesPerToken: FLOAT * (kept + perToken + QUERY_BLOCK_MAX / 2),
    bytesPerPair: FLOAT / 2,
  });
  // In a half layer: temporary values of its MLP, in the worst case one expert's for all tokens, or of attention with the scores
  // of a block.
  const dense = mixtures < layers ? 8 * intermediate : 0;
  const mixture = experts ? 8 * experts.intermediate + 6 * experts.count + 4 * hidden : 0;
  const half = 3 * hidden + Math.max(dense, mixture, 3 * qkv + 2 * attention + 4 * heads * QUERY_BLOCK_MAX);
  const expanded = expandedSizes(config, precision);
  return [
    // After the layers: a chunk of logits, its softmax and products; states, and their gradients. The arena then has buffers of the
    // half layers, of which the logits can reuse about two thirds.
    phase(4 * headChunk(vocab, null) * vocab + expanded.head, 4 * hidden + 0.3 * half),
    phase(expanded.linear, half),
  ];
}

/** Elements of the matrices that are float32 only while they are multiplied (frozen-matrix.ts): the largest of a layer, and the head. */
export function expandedSizes({ linears, hidden, vocab }: DecoderConfig, precision: TrainingPrecision) {
  if (precision === 'float32') return { linear: 0, head: 0 };
  const sizes = Object.values(linears).map(
    (parts) => parts[0]!.inFeatures * parts.reduce((sum, { outFeatures }) => sum + outFeatures, 0),
  );
  return { linear: Math.max(...sizes), head: vocab * hidden };
}
