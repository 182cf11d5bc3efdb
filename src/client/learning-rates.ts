// One learning rate per batch, for `config.learning_rate` of an SFT job: warm-up, then a schedule.

export interface LearningRateSchedule {
  /** Reached at the end of the warm-up. */
  readonly peak: number;
  readonly kind: 'linear' | 'cosine' | 'constant';
  /** Part of all batches over which the rate rises from 0. */
  readonly warmupRatio: number;
}

export const DEFAULT_SCHEDULE: LearningRateSchedule = { peak: 2e-4, kind: 'linear', warmupRatio: 0.1 };

/**
 * Of batches 0 … count − 1: (i + 1) / warm-up · peak, then from the peak down to 0 behind the last batch, along a line or half a
 * cosine (SGDR, arXiv:1608.03983 eq. 5, without restarts).
 */
export function learningRates(count: number, schedule: Partial<LearningRateSchedule> = {}): number[] {
  const { peak, kind, warmupRatio } = { ...DEFAULT_SCHEDULE, ...schedule };
  const warmup = Math.ceil(count * warmupRatio);
  return Array.from({ length: count }, (_, i) => {
    if (i < warmup) return (peak * (i + 1)) / warmup;
    const done = (i - warmup) / Math.max(1, count - warmup);
    if (kind === 'constant') return peak;
    return kind === 'linear' ? peak * (1 - done) : (peak * (1 + Math.cos(Math.PI * done))) / 2;
  });
}
