// Tables of cos and sin for rotary positions (arXiv:2104.09864), with the frequency scalings that model-files/block.ts names.
import type { Rope, RopeScaling } from '#model-files/block';

export interface RopeTables {
  /** `[maxPositions, dim / 2]` */
  readonly cos: Float32Array;
  readonly sin: Float32Array;
}

export function ropeTables(rope: Rope, maxPositions: number): RopeTables {
  const half = rope.dim / 2;
  const frequencies = ropeFrequencies(rope);
  const factor = rope.scaling && 'attentionFactor' in rope.scaling ? rope.scaling.attentionFactor : 1;
  const cos = new Float32Array(maxPositions * half);
  const sin = new Float32Array(maxPositions * half);
  for (let position = 0; position < maxPositions; position++) {
    for (let i = 0; i < half; i++) {
      const angle = float32(position * frequencies[i]!);
      cos[position * half + i] = float32(Math.cos(angle)) * factor;
      sin[position * half + i] = float32(Math.sin(angle)) * factor;
    }
  }
  return { cos, sin };
}

/**
 * `[dim / 2]`, radians per position. Every step is rounded to float32, as in the reference implementation: one unit in
 * the last place is a different angle after thousands of positions.
 */
export function ropeFrequencies({ dim, theta, scaling }: Rope): Float32Array {
  const powers = Float32Array.from({ length: dim / 2 }, (_, i) => theta ** float32((2 * i) / dim));
  if (scaling?.kind === 'longrope') return powers.map((power, i) => 1 / float32(float32(scaling.factors[i]!) * power));
  if (scaling?.kind === 'yarn') return yarnFrequencies(powers, dim, theta, scaling);
  return powers.map((power) => scaleFrequency(float32(1 / power), scaling));
}

const float32 = Math.fround;

type Scaling<Kind extends RopeScaling['kind']> = Extract<RopeScaling, { kind: Kind }>;

/** Llama 3.1: wavelengths beyond the original context are stretched, short ones kept, those between interpolated. */
function scaleFrequency(frequency: number, scaling: Scaling<'linear' | 'llama3'> | null): number {
  if (scaling === null) return frequency;
  if (scaling.kind === 'linear') return frequency / scaling.factor;
  const { factor, lowFrequencyFactor, highFrequencyFactor, originalMaxPositions } = scaling;
  const wavelength = float32(float32(1 / frequency) * float32(2 * Math.PI));
  if (wavelength < originalMaxPositions / highFrequencyFactor) return frequency;
  if (wavelength > originalMaxPositions / lowFrequencyFactor) return frequency / factor;
  const turns = float32(float32(1 / wavelength) * originalMaxPositions);
  const smooth = float32(float32(turns - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor));
  return float32(float32(float32(1 - smooth) * frequency) / factor) + float32(smooth * frequency);
}

/** YaRN: frequencies that turn often within the original context are kept, slow ones stretched, with a ramp between them. */
function yarnFrequencies(powers: Float32Array, dim: number, theta: number, scaling: Scaling<'yarn'>): Float32Array {
  const { factor, originalMaxPositions, betaFast, betaSlow, truncate } = scaling;
  const turning = (turns: number) =>
    (dim * Math.log(originalMaxPositions / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const [first, last] = [turning(betaFast), turning(betaSlow)];
  const low = Math.max(truncate ? Math.floor(first) : first, 0);
  const high = Math.min(truncate ? Math.ceil(last) : last, dim - 1);
  const span = float32(low === high ? 0.001 : high - low);
  return powers.map((power, i) => {
    const ramp = Math.min(1, Math.max(0, float32(float32(i - low) / span)));
    const kept = float32(1 - ramp);
    const stretched = float32(1 / float32(factor * power));
    return float32(stretched * float32(1 - kept)) + float32(float32(1 / power) * kept);
  });
}
