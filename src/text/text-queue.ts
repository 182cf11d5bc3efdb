// The queue, fair to payers, of what makes text for one request at a time: the process of chat templates, the thread of long prompts.
import { createFairQueue, type FairQueue, type FairQueueOptions } from '#base/fair-queue';
import { AppError } from '#domain/errors';

/** On whose behalf. */
export interface OnBehalf {
  readonly payer: string;
  readonly signal: AbortSignal;
}

export type QueueLimits = Omit<FairQueueOptions, 'refusal'>;

export interface TextQueue {
  /** Throws what the work throws, the refusal, `cancelled`. */
  run<T>(by: OnBehalf, work: () => Promise<T>): Promise<T>;
}

/** `refusal`: of a request that waits in vain, for the reason. */
export function createTextQueue(limits: QueueLimits, refusal: (reason: string) => AppError): TextQueue {
  const reasons = {
    crowded: 'Too many others wait before it.',
    late: `Others were served for ${limits.waitMs / 1000} s before it.`,
  };
  const queue: FairQueue = createFairQueue({
    ...limits,
    refusal: (cause) => refusal(`${reasons[cause]} Try again later.`),
  });
  return {
    run: ({ payer, signal }, work) =>
      queue.run(payer, work, signal).catch((error: unknown) => {
        if (!signal.aborted || error !== signal.reason) throw error;
        throw new AppError('cancelled', 'The request was cancelled.', { cause: error });
      }),
  };
}
