// What a row costs in memory while it is trained, from the model's sizes: kept activations, scores of attention, a chunk of
// logits. An estimate to plan rows by, a little above what was measured (bench/training-memory.ts); knows no machine.
import type { DecoderConfig } from '#model-files/decoder-config';
import type { TrainingLimits } from '../../training-engine.ts';
import { headChunk } from './train-feeds.ts';

const FLOAT = 4;
/** Sequences and rows beyond this are not trained, whatever the model reads and memory holds: as the reference trainer. */
const LENGTH_MAX = 32_768;

/** `budgetBytes`: for rows, beside the weights. `rowLengthMax`: an operator's limit below the memory's. */
export function trainingLimits(config: DecoderConfig, budgetBytes: number, rowLengthMax = Infinity): TrainingLimits {
  const memory = { budgetBytes, ...rowMemory(config) };
  return {
    contextLength: Math.min(config.maxPositions, LENGTH_MAX),
    rowLengthMax: Math.min(LENGTH_MAX, rowLengthMax, longestRow(memory)),
    memory,
  };
}

type RowMemory = Omit<TrainingLimits['memory'], 'budgetBytes'>;

function rowMemory(config: DecoderConfig): RowMemory {
  const { layers, hidden, heads, kvHeads, headDim, intermediate, vocab, softCaps } = config;
  const attention = heads * headDim;
  const qkv = attention + 2 * kvHeads * headDim;
  // Of each layer: both norms and residuals; q, k, v before and after norm and rotation, and attended; gate, up and their products.
  const keptPerToken = layers * (5 * hidden + 3 * qkv + 2 * attention + 6 * intermediate);
  return {
    fixedBytes: FLOAT * 4 * headChunk(vocab, null) * vocab,
    bytesPerToken: FLOAT * (keptPerToken + 4 * hidden),
    // Softmax of each layer is kept, and its capped scores; masks, and a few copies of one layer's scores come and go.
    bytesPerPair: FLOAT * heads * (layers * (softCaps.attention === null ? 1 : 2) + 4) + masksPerPair(config),
  };
}

/** The row's mask, and the tiled one of each kind of layer; those of windows are made from distances, which are int64. */
function masksPerPair({ attention, heads, kvHeads }: DecoderConfig): number {
  const windows = new Set(attention.map(({ window }) => window));
  const hasWindow = windows.size > 1 || !windows.has(null);
  return FLOAT * (1 + (windows.size * heads) / kvHeads + (hasWindow ? 3 + windows.size : 0));
}

/** The largest n with fixed + n · perToken + n² · perPair ≤ budget. */
function longestRow({ budgetBytes, fixedBytes, bytesPerToken: b, bytesPerPair: a }: TrainingLimits['memory']): number {
  const room = budgetBytes - fixedBytes;
  return room <= 0 ? 0 : Math.floor((-b + Math.sqrt(b * b + 4 * a * room)) / (2 * a));
}
