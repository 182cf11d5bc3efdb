// The learning rate over a run: linear warm-up, then half a cosine down to a tenth.

export interface LearningRateSchedule {
  readonly peak: number;
  readonly warmupSteps: number;
  /** Fraction of the peak, at the end. */
  readonly finalShare: number;
}

/** `progress` from 0 to 1: of the steps, or of the time limit. */
export function learningRateAt(schedule: LearningRateSchedule, step: number, progress: number): number {
  const { peak, warmupSteps, finalShare } = schedule;
  const warm = Math.min(1, (step + 1) / warmupSteps);
  const cosine = (1 + Math.cos(Math.PI * Math.min(1, progress))) / 2;
  return peak * warm * (finalShare + (1 - finalShare) * cosine);
}
