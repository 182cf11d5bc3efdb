// The learning rates of SFT jobs compared with Transformers' get_scheduler (fixtures/schedules.json, made by
// python/golden/make_schedules.py).
import { expect, test } from 'vitest';
import type { SchedulerType } from '#domain/sft';
import { scheduleRates } from '#training/learning-rate-schedule';
import { readFixture } from '../../support/golden/fixture.ts';

interface Golden {
  /** Each rate as a fraction of the peak. */
  readonly tolerance: number;
  readonly learning_rate: number;
  readonly cases: readonly {
    readonly lr_scheduler_type: SchedulerType;
    readonly steps: number;
    readonly warmup_steps?: number;
    readonly warmup_ratio?: number;
    readonly rates: readonly number[];
  }[];
}

const { tolerance, learning_rate: peak, cases } = readFixture<Golden>('schedules.json');

test.each(cases)(
  '$lr_scheduler_type over $steps steps, warm-up of $warmup_steps or $warmup_ratio',
  ({ lr_scheduler_type: type, steps, warmup_steps: warmupSteps = 0, warmup_ratio: warmupRatio = 0, rates }) => {
    const { rateOf } = scheduleRates(peak, { type, warmupSteps, warmupRatio }, { batches: steps, steps });
    expect(rates).toHaveLength(steps);
    rates.forEach((rate, step) => {
      expect(Math.abs(rateOf({ batch: step, step }) - rate), `step ${step}`).toBeLessThanOrEqual(tolerance * peak);
    });
  },
);
