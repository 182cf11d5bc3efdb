// How positions rotate queries and keys, from config.json. The family decides which values of a head are rotated, and in
// which layers.
import type { Rope, RopeScaling } from './block.ts';
import { isNumber, type ConfigJson, type ConfigReader } from './config-json.ts';
import { shown } from './shown.ts';

export interface RopeSource {
  readonly dim: number;
  /** If kinds of layers differ in RoPE: the kind's name in `rope_parameters`. */
  readonly layers?: 'full_attention' | 'sliding_attention';
  /** The keys for these layers in configs without `rope_parameters`. Default: `rope_theta` and `rope_scaling`. */
  readonly older?: ConfigJson;
}

export function readRope(config: ConfigReader, { dim, layers, older }: RopeSource): Rope {
  const { json } = config;
  const gathered = json['rope_parameters'] as ConfigJson | null | undefined;
  const ownKind = layers && (gathered?.[layers] as ConfigJson | undefined);
  const scaling = json['rope_scaling'] as ConfigJson | null | undefined;
  const source = ownKind ?? gathered ?? older ?? { rope_theta: json['rope_theta'], ...scaling };
  const theta = Number(source['rope_theta'] ?? json['rope_theta'] ?? 10_000);
  if (!(theta > 0 && theta < Infinity) || dim % 2 !== 0)
    throw config.refuse(
      `rotary positions need a positive rope_theta and an even number of values per head, got ${theta} and ${dim}.`,
    );
  return { dim, theta, scaling: readScaling(config, source, dim) };
}

function readScaling(config: ConfigReader, source: ConfigJson, dim: number): RopeScaling | null {
  const kind = (source['rope_type'] ?? source['type'] ?? 'default') as string;
  const number = (key: string, fallback?: number): number => {
    const value = source[key] ?? fallback;
    if (isNumber(value) && value > 0) return value;
    throw config.refuse(`rope scaling ${shown(kind)} needs the positive number ${key}, got ${shown(value)}.`);
  };
  const originalMaxPositions = () =>
    number('original_max_position_embeddings', config.positive('original_max_position_embeddings', maxPositions()));
  const maxPositions = () => config.positive('max_position_embeddings');
  switch (kind) {
    case 'default':
    case 'dynamic': // applies only beyond max_position_embeddings, which no sequence exceeds
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
    case 'yarn': {
      if (source['mscale'] || source['mscale_all_dim'])
        throw config.refuse('rope scaling "yarn" with mscale is not supported.');
      const factor = number('factor');
      return {
        kind,
        factor,
        originalMaxPositions: originalMaxPositions(),
        betaFast: number('beta_fast', 32),
        betaSlow: number('beta_slow', 1),
        truncate: source['truncate'] !== false,
        attentionFactor: number('attention_factor', factor <= 1 ? 1 : 0.1 * Math.log(factor) + 1),
      };
    }
    case 'longrope': {
      const factors = source['short_factor'];
      if (!Array.isArray(factors) || factors.length !== dim / 2 || !factors.every(isNumber))
        throw config.refuse(`rope scaling "longrope" needs a short_factor of ${dim / 2} numbers.`);
      const original = originalMaxPositions();
      const factor = number('factor', maxPositions() / original);
      const attentionFactor = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(original));
      return {
        kind,
        factors,
        originalMaxPositions: original,
        attentionFactor: number('attention_factor', attentionFactor),
      };
    }
    default:
      throw config.refuse(
        `rope scaling ${JSON.stringify(kind)} is not supported; supported are default, linear, dynamic, llama3, yarn and longrope.`,
      );
  }
}
