// config.json → DecoderConfig, or a clear refusal. Knows which families exist; each family is defined in its own file.
import { join } from 'node:path';
import { FileTooLongError, readBoundedText } from '#base/bounded-file';
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import type { Block, Experts, LayerAttention, Sizes } from './block.ts';
import { configReader, LAYERS_MAX, POSITIONS_MAX, type ConfigJson, type ConfigReader } from './config-json.ts';
import { shown } from './shown.ts';
import type { Family } from './families/family.ts';
import { gemma2 } from './families/gemma2.ts';
import { gemma3Text } from './families/gemma3-text.ts';
import { granite } from './families/granite.ts';
import { llama } from './families/llama.ts';
import { mistral } from './families/mistral.ts';
import { mixtral } from './families/mixtral.ts';
import { whyNotHere } from './families/not-here.ts';
import { olmo2 } from './families/olmo2.ts';
import { olmo3 } from './families/olmo3.ts';
import { phi3 } from './families/phi3.ts';
import { qwen2 } from './families/qwen2.ts';
import { qwen3 } from './families/qwen3.ts';
import { qwen3Moe } from './families/qwen3-moe.ts';
import { smollm3 } from './families/smollm3.ts';
import { quantizationFault } from './quantization.ts';

/** A decoder with grouped-query attention and gated MLPs: its sizes, and what its layers consist of. */
export interface DecoderConfig extends Sizes, Block {
  readonly family: string;
  readonly experts: Experts | null;
}

const FAMILIES: readonly Family[] = [
  llama,
  qwen2,
  qwen3,
  qwen3Moe,
  mistral,
  mixtral,
  smollm3,
  granite,
  olmo2,
  olmo3,
  phi3,
  gemma2,
  gemma3Text,
];

export async function readDecoderConfig(directory: string): Promise<DecoderConfig> {
  const path = join(directory, 'config.json');
  let json: unknown;
  try {
    json = JSON.parse(await readBoundedText(path));
  } catch (cause) {
    if (cause instanceof FileTooLongError)
      throw new AppError('bad_model_files', `Cannot read ${path}: ${cause.message}.`, { cause });
    throw new AppError(
      'bad_model_files',
      `${path} cannot be read as JSON. A model directory needs Hugging Face's config.json.`,
      { cause },
    );
  }
  return parseDecoderConfig(json, path);
}

/** `json`: whatever the file holds. */
export function parseDecoderConfig(json: unknown, path = 'config.json'): DecoderConfig {
  if (!isObject(json))
    throw new AppError('bad_model_files', `${path} must hold a JSON object, not ${shown(json)}. Download it again.`);
  try {
    return decoderConfigOf(json, path);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    // A field of another type than any known model has.
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('bad_model_files', `${path} cannot be used: ${reason}.`, { cause });
  }
}

function decoderConfigOf(json: ConfigJson, path: string): DecoderConfig {
  const family = FAMILIES.find(({ modelType }) => modelType === json['model_type']);
  const config = configReader({ ...family?.defaults, ...json }, path);
  if (!family) throw unknownFamily(config);
  const quantised = quantizationFault(config.json);
  if (quantised !== null) throw config.refuse(quantised);
  const sizes = readSizes(config);
  const block = family.block(config, sizes);
  const experts = family.experts?.(config, sizes) ?? null;
  const maxPositions = Math.min(sizes.maxPositions, ...block.attention.map(positionsMax));
  return Object.freeze({ family: family.modelType, ...sizes, ...block, experts, maxPositions });
}

function unknownFamily(config: ConfigReader): AppError {
  const type = config.json['model_type'];
  const why = whyNotHere(config.json);
  const reason = why === null ? '' : `: ${why}`;
  const known = FAMILIES.map(({ modelType }) => modelType).join(', ');
  return config.refuse(`model_type ${shown(type)} is not supported${reason}; supported are ${known}.`);
}

/** Some ten times the largest published models: what is larger is a mistake, and lists and graphs are made of these sizes. */
const MOST = {
  hidden: 262_144,
  heads: 4_096,
  headDim: 8_192,
  layers: LAYERS_MAX,
  intermediate: 2_097_152,
  vocab: 4_194_304,
};

function readSizes(config: ConfigReader): Sizes {
  const hidden = config.count('hidden_size', MOST.hidden);
  const heads = config.count('num_attention_heads', MOST.heads);
  const kvHeads = config.count('num_key_value_heads', MOST.heads, heads);
  if (heads % kvHeads !== 0)
    throw config.refuse(`num_attention_heads ${heads} is not a multiple of num_key_value_heads ${kvHeads}.`);
  return {
    hidden,
    layers: config.count('num_hidden_layers', MOST.layers),
    heads,
    kvHeads,
    headDim: config.count('head_dim', MOST.headDim, hidden / heads),
    intermediate: config.count('intermediate_size', MOST.intermediate),
    vocab: config.count('vocab_size', MOST.vocab),
    maxPositions: config.count('max_position_embeddings', POSITIONS_MAX),
    normEpsilon: config.positive('rms_norm_eps'),
    tiedEmbeddings: config.flag('tie_word_embeddings'),
  };
}

/** Beyond this length, LongRoPE uses other factors, also for earlier tokens. */
const positionsMax = ({ rope }: LayerAttention): number =>
  rope?.scaling?.kind === 'longrope' ? rope.scaling.originalMaxPositions : Infinity;
