// A queue, fair to payers, for text work that runs one request at a time: the thread for long prompts.
import { createFairQueue, type FairQueue, type FairQueueOptions } from '#base/fair-queue';
import { AppError } from '#domain/errors';

/** The payer of the request. */
export interface OnBehalf {
  readonly payer: string;
  readonly signal: AbortSignal;
}

export type QueueLimits = Omit<FairQueueOptions, 'refusal'>;

export interface TextQueue {
  /** Throws what the work throws, the refusal, or `cancelled`. */
  run<T>(by: OnBehalf, work: () => Promise<T>): Promise<T>;
}

/** `refusal`: makes the error for a request that waited in vain, from the reason. */
export function createTextQueue(limits: QueueLimits, refusal: (reason: string) => AppError): TextQueue {
  const reasons = {
    crowded: 'Too many other requests are waiting.',
    late: `The request waited ${limits.waitMs / 1000} s for other requests.`,
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
