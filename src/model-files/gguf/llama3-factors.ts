// Llama 3's rope scaling as GGUF has it: one divisor per frequency, from which the scaling itself is found again.
import type { RopeScaling } from '../block.ts';

type Llama3Scaling = Omit<RopeScaling & { kind: 'llama3' }, 'kind'>;

/** What all of Meta's models have. */
const USUAL = { lowFrequencyFactor: 1, highFrequencyFactor: 4, originalMaxPositions: 8192 };

/** The divisor of each frequency; smooth between the two wavelengths (`rope_type: llama3` of Transformers). */
export function llama3Factors(
  { factor, lowFrequencyFactor, highFrequencyFactor, originalMaxPositions }: Llama3Scaling,
  theta: number,
  dim: number,
): number[] {
  return Array.from({ length: dim / 2 }, (_, i) => {
    const wavelength = 2 * Math.PI * theta ** ((2 * i) / dim);
    if (wavelength < originalMaxPositions / highFrequencyFactor) return 1;
    if (wavelength > originalMaxPositions / lowFrequencyFactor) return factor;
    const smooth =
      (originalMaxPositions / wavelength - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor);
    return 1 / ((1 - smooth) / factor + smooth);
  });
}

/** Null: the divisors, in float32, are of another scaling. */
export function findLlama3Scaling(divisors: readonly number[], theta: number): Llama3Scaling | null {
  const scaling = { ...USUAL, factor: divisors.at(-1) ?? 1 };
  const found = llama3Factors(scaling, theta, 2 * divisors.length);
  const isSame = scaling.factor > 1 && found.every((divisor, i) => Math.abs(divisor / divisors[i]! - 1) < 1e-5);
  return isSame ? scaling : null;
}
