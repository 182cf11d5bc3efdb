// The learning rate of each step of an SFT job: constant, listed per batch by the client, or a warm-up and a decay. The schedules are those
// of Transformers' get_scheduler (test/engine/golden/schedules.test.ts). A rate depends only on the job's settings and the step's number, so
// that a resumed job continues with the same rates.
import { counted } from '#base/counted';
import { AppError } from '#domain/errors';
import type { SchedulerType } from '#domain/sft';

export interface LearningRateSchedule {
  readonly type: SchedulerType;
  /** Steps over which the rate rises from 0; if 0, the ratio applies. */
  readonly warmupSteps: number;
  /** The same as a fraction of all steps. */
  readonly warmupRatio: number;
}

export interface ScheduledRates {
  readonly warmupSteps: number;
  /** Batches are counted in the data, steps only where there was something to train; both continue over the epochs. */
  readonly rateOf: (place: { readonly batch: number; readonly step: number }) => number;
}

/** Throws `invalid_request` if the numbers of listed rates and of batches differ. */
export function scheduleRates(
  rate: number | readonly number[],
  schedule: LearningRateSchedule,
  { batches, steps }: { readonly batches: number; readonly steps: number },
): ScheduledRates {
  if (typeof rate === 'number') {
    const warmupSteps = warmupStepsOf(schedule, steps);
    return { warmupSteps, rateOf: ({ step }) => rate * rateFactor(schedule.type, { step, steps, warmupSteps }) };
  }
  if (rate.length === batches) return { warmupSteps: 0, rateOf: ({ batch }) => rate[batch]! };
  throw new AppError(
    'invalid_request',
    `config.learning_rate has ${counted(rate.length, 'value')} for ${counted(batches, 'batch')}. Send one per batch of every epoch, or one number for all.`,
  );
}

/**
 * The first step of a warm-up has a rate of 0, so a ratio that amounts to less than one step makes no warm-up: rounded up, as
 * Transformers does, it would only throw away the first batch. A ratio leaves at least one step after the warm-up.
 */
function warmupStepsOf({ warmupSteps, warmupRatio }: LearningRateSchedule, steps: number): number {
  if (warmupSteps > 0) return warmupSteps;
  if (steps * warmupRatio < 1) return 0;
  return Math.min(Math.ceil(steps * warmupRatio), Math.max(0, steps - 1));
}

/** For `step` 0, 1, …: rises from 0 to 1 over the warm-up, then falls to 0 after the last step, linearly or along half a cosine. */
function rateFactor(
  type: SchedulerType,
  { step, steps, warmupSteps }: { readonly step: number; readonly steps: number; readonly warmupSteps: number },
): number {
  if (step < warmupSteps) return step / warmupSteps;
  if (type === 'constant') return 1;
  const done = Math.min(1, (step - warmupSteps) / Math.max(1, steps - warmupSteps));
  return type === 'linear' ? 1 - done : (1 + Math.cos(Math.PI * done)) / 2;
}

export function scheduleWarnings({ warmupSteps }: ScheduledRates, steps: number): string[] {
  if (warmupSteps === 0 || steps === 0 || warmupSteps < steps) return [];
  return [
    `The warm-up takes ${counted(warmupSteps, 'step')} and the job has ${steps}: the learning rate never reaches config.learning_rate. ` +
      'Send fewer warmup_steps, or a warmup_ratio.',
  ];
}
