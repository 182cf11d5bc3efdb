// Whether a queue of requests has room for one more. Nobody may fill it alone: a payer has a share (base/tally.ts), so that the next one finds
// room. rank.ts decides who goes first.
import { hasRoom, shareOf, type Counted } from '#base/tally';
import { AppError } from '#domain/errors';

/** Counts choices. Throws `too_many_requests`. */
export function findRoom(size: number, counted: Counted, max: number): void {
  if (hasRoom(size, counted, max)) return;
  const { all, ofPayer } = counted;
  const share = shareOf(counted, max);
  const message =
    ofPayer === all
      ? `${all} choices wait or are computed for this key, and there is room for ${share}.`
      : `${all} choices wait or are computed, ${ofPayer} of them for this key, for which there is room for ${share}.`;
  throw new AppError('too_many_requests', `The queue is full: ${message} Try again later.`, { retryAfterSeconds: 5 });
}
