// config.json → DecoderConfig, or a clear refusal. Knows which families exist; what a family is stands in its own file.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '#domain/errors';
import { llama } from './llama.ts';
import { qwen2 } from './qwen2.ts';
import { qwen3 } from './qwen3.ts';
import type { RopeScaling } from './rope.ts';

/** The sizes and switches of a pre-norm decoder with grouped-query attention, rotary positions and a gated MLP. */
export interface DecoderConfig {
  readonly family: string;
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly intermediate: number;
  readonly vocab: number;
  readonly maxPositions: number;
  readonly normEpsilon: number;
  readonly ropeTheta: number;
  readonly ropeScaling: RopeScaling | null;
  /** The output head is the embedding matrix. */
  readonly tiedEmbeddings: boolean;
  readonly qkvBias: boolean;
  readonly outputBias: boolean;
  /** RMS norm over each head's queries and keys, before the rotation. */
  readonly queryKeyNorm: boolean;
}

/** What a family adds to the sizes that all share. Throws AppError for switches that we do not have. */
export interface Family {
  readonly modelType: string;
  switches(config: ConfigJson): Pick<DecoderConfig, 'qkvBias' | 'outputBias' | 'queryKeyNorm'>;
}

export type ConfigJson = Readonly<Record<string, unknown>>;

const FAMILIES: readonly Family[] = [llama, qwen2, qwen3];

export async function readDecoderConfig(directory: string): Promise<DecoderConfig> {
  const path = join(directory, 'config.json');
  let json: ConfigJson;
  try {
    json = JSON.parse(await readFile(path, 'utf8')) as ConfigJson;
  } catch (cause) {
    throw new AppError('bad_model_files', `${path} cannot be read as JSON. A model directory needs Hugging Face's config.json.`, { cause });
  }
  return parseDecoderConfig(json, path);
}

export function parseDecoderConfig(json: ConfigJson, path = 'config.json'): DecoderConfig {
  const refuse = (problem: string) => new AppError('bad_model_files', `${path}: ${problem}`);
  const family = FAMILIES.find(({ modelType }) => modelType === json['model_type']);
  if (!family) {
    const known = FAMILIES.map(({ modelType }) => modelType).join(', ');
    throw refuse(`model_type ${JSON.stringify(json['model_type'])} is not supported; supported are ${known}.`);
  }
  const positive = (key: string, fallback?: number): number => {
    const value = json[key] ?? fallback;
    if (typeof value !== 'number' || !(value > 0)) throw refuse(`${key} must be a positive number, got ${JSON.stringify(value)}.`);
    return value;
  };
  const act = json['hidden_act'] ?? 'silu';
  if (act !== 'silu') throw refuse(`hidden_act ${JSON.stringify(act)} is not supported; supported is silu.`);

  const hidden = positive('hidden_size');
  const heads = positive('num_attention_heads');
  const kvHeads = positive('num_key_value_heads', heads);
  if (heads % kvHeads !== 0) throw refuse(`num_attention_heads ${heads} is not a multiple of num_key_value_heads ${kvHeads}.`);
  const rope = ropeParameters(json);
  return Object.freeze({
    family: family.modelType,
    hidden,
    layers: positive('num_hidden_layers'),
    heads,
    kvHeads,
    headDim: positive('head_dim', hidden / heads),
    intermediate: positive('intermediate_size'),
    vocab: positive('vocab_size'),
    maxPositions: positive('max_position_embeddings'),
    normEpsilon: positive('rms_norm_eps', 1e-6),
    ropeTheta: rope.theta,
    ropeScaling: parseRopeScaling(rope.scaling, refuse),
    tiedEmbeddings: json['tie_word_embeddings'] === true,
    ...family.switches(json),
  });
}

/** Transformers 5 gathers what `rope_theta` and `rope_scaling` said in `rope_parameters`. */
function ropeParameters(json: ConfigJson): { theta: number; scaling: ConfigJson | null } {
  const gathered = json['rope_parameters'] as ConfigJson | null | undefined;
  const scaling = gathered ?? (json['rope_scaling'] as ConfigJson | null | undefined) ?? null;
  const theta = gathered?.['rope_theta'] ?? json['rope_theta'] ?? 10_000;
  return { theta: Number(theta), scaling };
}

function parseRopeScaling(scaling: ConfigJson | null, refuse: (problem: string) => AppError): RopeScaling | null {
  const kind = (scaling?.['rope_type'] ?? scaling?.['type'] ?? 'default') as string;
  const number = (key: string): number => {
    const value = scaling?.[key];
    if (typeof value !== 'number') throw refuse(`rope scaling ${JSON.stringify(kind)} needs the number ${key}.`);
    return value;
  };
  switch (kind) {
    case 'default':
      return null;
    case 'linear':
      return { kind, factor: number('factor') };
    case 'llama3':
      return {
        kind,
        factor: number('factor'),
        lowFrequencyFactor: number('low_freq_factor'),
        highFrequencyFactor: number('high_freq_factor'),
        originalMaxPositions: number('original_max_position_embeddings'),
      };
    default:
      throw refuse(`rope scaling ${JSON.stringify(kind)} is not supported; supported are default, linear and llama3.`);
  }
}
