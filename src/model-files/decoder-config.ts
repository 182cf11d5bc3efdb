// config.json → DecoderConfig, or a clear refusal. Knows which families exist; each family is defined in its own file.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '#domain/errors';
import type { Block, Experts, LayerAttention, Sizes } from './block.ts';
import { configReader, type ConfigJson, type ConfigReader } from './config-json.ts';
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
  let json: ConfigJson;
  try {
    json = JSON.parse(await readFile(path, 'utf8')) as ConfigJson;
  } catch (cause) {
    throw new AppError(
      'bad_model_files',
      `${path} cannot be read as JSON. A model directory needs Hugging Face's config.json.`,
      { cause },
    );
  }
  return parseDecoderConfig(json, path);
}

export function parseDecoderConfig(json: ConfigJson, path = 'config.json'): DecoderConfig {
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
  return config.refuse(`model_type ${JSON.stringify(type)} is not supported${reason}; supported are ${known}.`);
}

function readSizes(config: ConfigReader): Sizes {
  const hidden = config.positive('hidden_size');
  const heads = config.positive('num_attention_heads');
  const kvHeads = config.positive('num_key_value_heads', heads);
  if (heads % kvHeads !== 0)
    throw config.refuse(`num_attention_heads ${heads} is not a multiple of num_key_value_heads ${kvHeads}.`);
  return {
    hidden,
    layers: config.positive('num_hidden_layers'),
    heads,
    kvHeads,
    headDim: config.positive('head_dim', hidden / heads),
    intermediate: config.positive('intermediate_size'),
    vocab: config.positive('vocab_size'),
    maxPositions: config.positive('max_position_embeddings'),
    normEpsilon: config.positive('rms_norm_eps'),
    tiedEmbeddings: config.flag('tie_word_embeddings'),
  };
}

/** Beyond this length, LongRoPE uses other factors, also for earlier tokens. */
const positionsMax = ({ rope }: LayerAttention): number =>
  rope?.scaling?.kind === 'longrope' ? rope.scaling.originalMaxPositions : Infinity;
