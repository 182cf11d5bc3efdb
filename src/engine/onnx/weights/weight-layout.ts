// What a graph reads of a model's weights, tensor by tensor and in which encoding. Equal layouts share one stored file: the
// sampler's and the trainer's if their precision is the same. Knows no files.
import { AppError } from '#domain/errors';
import type { DecoderConfig } from '#model-files/decoder-config';
import { EMBEDDING_WEIGHT, HEAD_WEIGHT, layerLinears, type ParameterSpec } from '#model-files/decoder-parameters';
import type { ServingPrecision, TrainingPrecision } from '../../capabilities.ts';
import { BLOCKS8, EXPERTS8, FLOAT32, OUTPUTS8, type Encoding } from './encodings.ts';
import {
  EXPERT_LINEARS,
  expertWeightName,
  fusedParameters,
  fusedWeightName,
  type FusedSpec,
} from './fused-parameters.ts';

export interface WeightSpec extends FusedSpec {
  readonly encoding: Encoding;
}

/** Encoding of linears and the head; all other tensors are float32 in every precision. */
const LINEAR_ENCODING: Readonly<Record<ServingPrecision, Encoding>> = {
  float32: FLOAT32,
  int8: BLOCKS8,
  w8a8: OUTPUTS8,
};

/** Throws `invalid_request`. */
export function servingLayout(config: DecoderConfig, precision: ServingPrecision): readonly WeightSpec[] {
  if (config.experts && precision === 'int8')
    throw withoutInt8(config, '--precision', 'Use --precision w8a8, which stores the experts in 8 bits, or float32.');
  return layoutIn(config, precision);
}

/** Throws `invalid_request`. */
export function trainingLayout(config: DecoderConfig, precision: TrainingPrecision = 'float32'): readonly WeightSpec[] {
  if (config.experts && precision === 'int8')
    throw withoutInt8(config, '--training-precision', 'Leave the option out: the trainer then uses float32.');
  return layoutIn(config, precision);
}

/** With rounded weights a tied head is a tensor of its own in addition to the embedding: `lm_head.weight`. */
function layoutIn(config: DecoderConfig, precision: ServingPrecision): readonly WeightSpec[] {
  const whole = fusedParameters(config).map((spec) => ({ ...spec, encoding: FLOAT32 }));
  const encoding = LINEAR_ENCODING[precision];
  if (encoding === FLOAT32) return whole;
  const layers = Array.from({ length: config.layers }, (_, layer) => layer);
  const encodings = new Map<string, Encoding>([[HEAD_WEIGHT, encoding]]);
  for (const layer of layers) {
    for (const linear of layerLinears(config, layer)) encodings.set(fusedWeightName(layer, linear), encoding);
    for (const linear of EXPERT_LINEARS) encodings.set(expertWeightName(layer, linear), EXPERTS8);
  }
  const encoded = whole.map((spec) => ({ ...spec, encoding: encodings.get(spec.name) ?? FLOAT32 }));
  if (!config.tiedEmbeddings) return encoded;
  const embedding: ParameterSpec = { name: EMBEDDING_WEIGHT, shape: [config.vocab, config.hidden] };
  return [...encoded, { name: HEAD_WEIGHT, shape: embedding.shape, parts: [embedding], encoding }];
}

/** The int8 kernel is fast because it packs constants, one per expert and layer; here a round reads one slice of a stack. */
const withoutInt8 = ({ family }: DecoderConfig, flag: string, instead: string): AppError =>
  new AppError('invalid_request', `${flag} int8 does not support models with experts (${family}). ${instead}`);
