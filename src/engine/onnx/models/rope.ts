// Tables of cos and sin for rotary positions (arXiv:2104.09864), with the frequency scalings of Llama 3.1 and "linear".

export type RopeScaling =
  | { readonly kind: 'linear'; readonly factor: number }
  | {
      readonly kind: 'llama3';
      readonly factor: number;
      readonly lowFrequencyFactor: number;
      readonly highFrequencyFactor: number;
      readonly originalMaxPositions: number;
    };

export interface RopeTables {
  /** `[maxPositions, headDim / 2]` */
  readonly cos: Float32Array;
  readonly sin: Float32Array;
}

export function ropeTables(headDim: number, maxPositions: number, theta: number, scaling: RopeScaling | null): RopeTables {
  const half = headDim / 2;
  // float32 like the reference implementations, so that large positions round the same way
  const frequencies = Float32Array.from({ length: half }, (_, i) => scaleFrequency(Math.fround(1 / theta ** ((2 * i) / headDim)), scaling));
  const cos = new Float32Array(maxPositions * half);
  const sin = new Float32Array(maxPositions * half);
  for (let position = 0; position < maxPositions; position++) {
    for (let i = 0; i < half; i++) {
      const angle = Math.fround(position * frequencies[i]!);
      cos[position * half + i] = Math.cos(angle);
      sin[position * half + i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}

/** Llama 3.1: wavelengths beyond the original context are stretched, short ones kept, those between blended. */
function scaleFrequency(frequency: number, scaling: RopeScaling | null): number {
  if (scaling === null) return frequency;
  if (scaling.kind === 'linear') return frequency / scaling.factor;
  const { factor, lowFrequencyFactor, highFrequencyFactor, originalMaxPositions } = scaling;
  const wavelength = (2 * Math.PI) / frequency;
  if (wavelength < originalMaxPositions / highFrequencyFactor) return frequency;
  if (wavelength > originalMaxPositions / lowFrequencyFactor) return frequency / factor;
  const smooth = (originalMaxPositions / wavelength - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor);
  return ((1 - smooth) * frequency) / factor + smooth * frequency;
}
