// Model shapes that benchmarks run on, with random weights: speed does not depend on what the numbers are.
import type { DecoderConfig } from '#engine/onnx/models/config';

const shape = (sizes: Partial<DecoderConfig>): DecoderConfig => ({
  family: 'qwen3',
  hidden: 1024,
  layers: 28,
  heads: 16,
  kvHeads: 8,
  headDim: 128,
  intermediate: 3072,
  vocab: 151_936,
  maxPositions: 2048,
  normEpsilon: 1e-6,
  ropeTheta: 1_000_000,
  ropeScaling: null,
  tiedEmbeddings: true,
  qkvBias: false,
  outputBias: false,
  queryKeyNorm: true,
  ...sizes,
});

export const SHAPES: Readonly<Record<string, DecoderConfig>> = {
  'qwen3-0.6b': shape({}),
  /** SmolLM2-135M's sizes in Qwen3's architecture. */
  '135m': shape({
    hidden: 576,
    layers: 30,
    heads: 9,
    kvHeads: 3,
    headDim: 64,
    intermediate: 1536,
    vocab: 49_152,
    ropeTheta: 100_000,
  }),
  /** For a quick look. */
  '20m': shape({
    hidden: 384,
    layers: 6,
    heads: 6,
    kvHeads: 2,
    headDim: 64,
    intermediate: 1024,
    vocab: 16_384,
    ropeTheta: 10_000,
  }),
};
