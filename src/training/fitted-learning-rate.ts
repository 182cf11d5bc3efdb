// Learning rates that worked best for LoRA, by model size: the default of SFT jobs, and the measure for warnings.

/** The fitted rate at this hidden size: 5e-5, times ten for LoRA. */
const REFERENCE = { hiddenSize: 2000, rate: 10 * 5e-5 };
/** Exponents by which it falls with the hidden size. */
const EXPONENTS = { llama: 0.781, qwen: 0.0775 };

/**
 * 10 · 5e-5 · (2000 / hidden)^exponent: fitted on supervised losses by the authors of "LoRA Without Regret" (Thinking Machines, 2025)
 * in their cookbook (get_lr). They fitted one exponent for Llama and one for Qwen; for other families the rate probably lies between.
 */
export function fittedLearningRates(hiddenSize: number): { readonly low: number; readonly high: number } {
  const rates = Object.values(EXPONENTS).map(
    (exponent) => REFERENCE.rate * (REFERENCE.hiddenSize / hiddenSize) ** exponent,
  );
  return { low: Math.min(...rates), high: Math.max(...rates) };
}

/** Rounded to two digits. */
export const shortRate = (rate: number): number => Number(rate.toPrecision(2));
