// What a row costs in memory while it is trained, from the model's sizes, and what is kept of it for the backward pass:
// everything where that fits, else the inputs of half layers. An estimate to plan rows by, within 15 % of what was measured
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
import { headChunk, QUERY_BLOCK } from './train-feeds.ts';

const FLOAT = 4;
/** Of a compiled graph, whatever the row: measured. */
const LAYER_BYTES = 3.5e6;
/** Of B of an adapter on the head, `[vocab, rank]`: the sum so far, a chunk's share, and both of the next round. */
const HEAD_GRADIENTS = 4;
/**
 * Of an adapter: itself, two moments, the sum of its gradients, and a row's three times: as the graph gives them, as they are read, and those of
 * the row before until they are collected. Measured with ranks of 8 and 256: 7.0 times.
 */
const ADAPTER_COPIES = 7;
/** Sequences and rows beyond this are not trained, whatever the model reads and memory holds: as the reference trainer. */
const LENGTH_MAX = 32_768;

/** `budgetBytes`: for rows, beside the weights. `rowLengthMax`: an operator's limit below the memory's. `precision`: of frozen weights. */
export function trainingLimits(
  config: DecoderConfig,
  budgetBytes: number,
  rowLengthMax = Infinity,
  precision: TrainingPrecision = 'float32',
): TrainingLimits {
  const perRank = bytesPerRank(config);
  const phases = phasesOf(config, 'recomputed', precision).map((phase) => ({ budgetBytes, ...phase, ...perRank }));
  const [memory] = phases.sort((a, b) => longestRow(a) - longestRow(b)) as [TrainingLimits['memory']]; // the one that bounds
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

/** The peak of a row's forward and backward pass, beside what training holds of its adapter. */
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

/** The two times of a step that may be its peak. What layers keep is there in both, and the row's mask. */
function phasesOf(config: DecoderConfig, activations: Activations, precision: TrainingPrecision): readonly RowMemory[] {
  const { layers, hidden, heads, kvHeads, headDim, intermediate, experts, vocab } = config;
  const attention = heads * headDim;
  const qkv = attention + 2 * kvHeads * headDim;
  // Of each layer residuals and what norms give; q, k, v as projected, before and after norm and rotation; what is attended;
  // gate, up and their products. The halves are the arena's: of buffers of many sizes not all are used again.
  const everything = 4.5 * hidden + 3 * qkv + 1.5 * attention;
  // Of experts what the router gives: what they compute is always computed again.
  const mixtures = experts?.layers.filter(Boolean).length ?? 0;
  const mlps = 5.5 * intermediate * (layers - mixtures) + (experts ? 6 * experts.count + hidden : 0) * mixtures;
  const kept = activations === 'kept' ? layers * everything + mlps : layers * 2 * hidden;
  const phase = (fixed: number, perToken: number): RowMemory => ({
    fixedBytes: layers * LAYER_BYTES + FLOAT * fixed,
    bytesPerToken: FLOAT * (kept + perToken),
    bytesPerPair: FLOAT,
  });
  // In a half layer: what comes and goes of its MLP, in the worst case one expert's for all tokens, or of attention with the scores
  // of a block.
  const dense = mixtures < layers ? 8 * intermediate : 0;
  const mixture = experts ? 8 * experts.intermediate + 6 * experts.count + 4 * hidden : 0;
  const half = 3 * hidden + Math.max(dense, mixture, 3 * qkv + 2 * attention + 4 * heads * QUERY_BLOCK);
  const expanded = expandedSizes(config, precision);
  return [
    // Behind the layers: a chunk of logits, its softmax and products; states, and their gradients. The arena has buffers of the
    // half layers by then, of which the logits find some two thirds to use again.
    phase(4 * headChunk(vocab, null) * vocab + expanded.head, 4 * hidden + 0.3 * half),
    phase(expanded.linear, half),
  ];
}

/** Numbers of the matrices that are float32 only while they are multiplied (frozen-matrix.ts): of layers the largest, and the head. */
export function expandedSizes({ linears, hidden, vocab }: DecoderConfig, precision: TrainingPrecision) {
  if (precision === 'float32') return { linear: 0, head: 0 };
  const sizes = Object.values(linears).map(
    (parts) => parts[0]!.inFeatures * parts.reduce((sum, { outFeatures }) => sum + outFeatures, 0),
  );
  return { linear: Math.max(...sizes), head: vocab * hidden };
}
