// What a graph reads of a model's weights, tensor by tensor and in which encoding. Equal layouts are one stored file: the
// float32 sampler and the trainer have the same. Knows no files.
import { FUSED_LINEARS } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import type { ParameterSpec } from '#model-files/decoder-parameters';
import type { ServingPrecision } from '../../capabilities.ts';
import { BLOCKS8, FLOAT32, OUTPUTS8, type Encoding } from './encodings.ts';
import { fusedParameters, fusedWeightName, type FusedSpec } from './fused-parameters.ts';

export interface WeightSpec extends FusedSpec {
  readonly encoding: Encoding;
}

/** Of linears and of the head; all else is float32 in every precision. */
const LINEAR_ENCODING: Readonly<Record<ServingPrecision, Encoding>> = {
  float32: FLOAT32,
  int8: BLOCKS8,
  w8a8: OUTPUTS8,
};

export const EMBEDDING = 'model.embed_tokens.weight';
export const HEAD = 'lm_head.weight';

/** Every weight in float32. */
export const trainingLayout = (config: DecoderConfig): readonly WeightSpec[] =>
  fusedParameters(config).map((spec) => ({ ...spec, encoding: FLOAT32 }));

/** With rounded weights a tied head is a tensor of its own beside the embedding: `lm_head.weight`. */
export function servingLayout(config: DecoderConfig, precision: ServingPrecision): readonly WeightSpec[] {
  const whole = trainingLayout(config);
  const encoding = LINEAR_ENCODING[precision];
  if (encoding === FLOAT32) return whole;
  const layers = Array.from({ length: config.layers }, (_, layer) => layer);
  const linears = new Set(layers.flatMap((layer) => FUSED_LINEARS.map((linear) => fusedWeightName(layer, linear))));
  const encoded = whole.map((spec) => (linears.has(spec.name) || spec.name === HEAD ? { ...spec, encoding } : spec));
  if (!config.tiedEmbeddings) return encoded;
  const embedding: ParameterSpec = { name: EMBEDDING, shape: [config.vocab, config.hidden] };
  return [...encoded, { name: HEAD, shape: embedding.shape, parts: [embedding], encoding }];
}
