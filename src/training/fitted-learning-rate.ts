// Learning rates that worked best for LoRA, by model size: the defaults of SFT and RL jobs, and the measure for warnings.

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

/**
 * The default of RL jobs is this over the hidden size. Measured in RL jobs of 128 short answers (docs/guides/learning-rate.md): at 192,
 * 2e-3 learns fastest and 2e-2 destroys the model; at 576, 3e-4 and 1e-3 do the same in as many steps. AdamW moves each weight by
 * about the rate, and an output adds up one such move per input, so the rate falls with the width (arXiv:2203.03466, table 8).
 */
const RL_RATE_BY_WIDTH = 0.3;
/** Used if the hidden size is unknown: the reference trainer's. */
const RL_RATE_OF_UNKNOWN = 5e-6;

export const rlLearningRate = (hiddenSize: number | null): number =>
  hiddenSize === null ? RL_RATE_OF_UNKNOWN : shortRate(RL_RATE_BY_WIDTH / hiddenSize);

/** Rounded to two digits. */
export const shortRate = (rate: number): number => Number(rate.toPrecision(2));
