// Detects checkpoints whose weights are quantisation codes, from config.json. None are supported: codes that are stored as BF16 or
// F32 would be read as weights, without their scales.
import type { ConfigJson } from './config-json.ts';

/** Where Transformers, compressed-tensors and MLX describe it. */
const KEYS = ['quantization_config', 'compression_config', 'quantization'];

/** By `quant_method`: what it is, and how the names of such checkpoints usually end. */
const METHODS: Readonly<Record<string, readonly [what: string, suffix?: string]>> = {
  gptq: ['GPTQ, packed integers with a scale per group', '-GPTQ-Int4'],
  awq: ['AWQ, packed integers with a scale per group', '-AWQ'],
  fp8: ['8-bit floats with a scale per block', '-FP8'],
  fbgemm_fp8: ['8-bit floats with a scale per row', '-FP8'],
  bitsandbytes: ['4-bit or 8-bit codes of bitsandbytes', '-bnb-4bit'],
  'compressed-tensors': ['codes of compressed-tensors', '-FP8 or -quantized.w4a16'],
  mxfp4: ['4-bit floats with a scale per block'],
};

/** Null: the checkpoint is not quantised. */
export function quantizationFault(config: ConfigJson): string | null {
  for (const key of KEYS) {
    const quantization = config[key] as ConfigJson | null | undefined;
    if (quantization === null || quantization === undefined) continue;
    const name = quantization['quant_method'] ?? quantization['format'];
    const how = name === undefined ? 'without a name' : JSON.stringify(name);
    const [what, suffix] = (typeof name === 'string' && Object.hasOwn(METHODS, name) && METHODS[name]) || [];
    const meaning = what === undefined ? '' : `: its weights are ${what}`;
    const find = suffix === undefined ? '' : `, which usually has the same name without ${suffix}`;
    return `the checkpoint is quantised (${key}: ${how}), which is not supported${meaning}. Use the unquantised checkpoint (F32, BF16 or F16)${find}. To save memory, start with --precision int8.`;
  }
  return null;
}
