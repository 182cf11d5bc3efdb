// The learning rates at which LoRA learnt best, by the size of the model: what an SFT job takes whose client names none, and what
// advice is measured against.

/** Fitted at this hidden size: 5e-5, ten times as much with LoRA. */
const REFERENCE = { hiddenSize: 2000, rate: 10 * 5e-5 };
/** How fast it falls with the hidden size. */
const EXPONENTS = { llama: 0.781, qwen: 0.0775 };

/**
 * 10 · 5e-5 · (2000 / hidden)^exponent: fitted on supervised losses by the authors of "LoRA Without Regret" (Thinking Machines, 2025)
 * in their cookbook (get_lr). Each family has its exponent, and of most nobody knows it: the truth lies between the two.
 */
export function fittedLearningRates(hiddenSize: number): { readonly low: number; readonly high: number } {
  const rates = Object.values(EXPONENTS).map(
    (exponent) => REFERENCE.rate * (REFERENCE.hiddenSize / hiddenSize) ** exponent,
  );
  return { low: Math.min(...rates), high: Math.max(...rates) };
}

/** Rounded to two digits, as people write rates. */
export const shortRate = (rate: number): number => Number(rate.toPrecision(2));
