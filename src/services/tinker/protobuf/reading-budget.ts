// What reading one forward_backward may cost. A sparse tensor is short on the wire and claims any size, a message of tiny fields is long
// to read: both are counted over the whole request, before memory is taken.
import { createBudget, type Budget } from '#base/budget';
import { AppError } from '#domain/errors';

export interface ReadingBudget {
  readonly fields: Budget;
  readonly cells: Budget;
}

/** The SDK sends at most 1,024 data of some 30 fields in a request. */
export const FIELDS_MAX = 250_000;
/** Twice what 16 MB of dense float32 hold. */
export const CELLS_MAX = 8_000_000;

const refuse = (what: string) => (most: number) =>
  new AppError('invalid_request', `The request has more than ${most} ${what}. Send fewer data at once.`);

export const createReadingBudget = (): ReadingBudget => ({
  fields: createBudget(FIELDS_MAX, refuse('protobuf fields')),
  cells: createBudget(CELLS_MAX, refuse('cells in its tensors, sparse ones counted whole')),
});
