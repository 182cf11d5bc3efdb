// How the library asks for the order of a list, and for some of its runs. What would change the list and is not supported is refused.
import { AppError } from '#domain/errors';
import type { Order } from '#domain/page';
import type { RunState } from '#domain/run';
import { readLoggedObject } from '#services/runs/run-json';

/** Without a sign the library means ascending; without an order, the newest come first. */
const BY_CREATION = /^([+-]?)(?:created_at|createdAt)$/;

export function directionOf(order: string | null | undefined): Order {
  if (!order) return 'desc';
  const [found, sign] = BY_CREATION.exec(order) ?? [];
  if (found !== undefined) return sign === '-' ? 'desc' : 'asc';
  const message = `This list cannot be ordered by ${order.slice(0, 200)}, only by +created_at or -created_at. Sort it in your program.`;
  throw new AppError('invalid_request', message, { param: 'order' });
}

const STATES: readonly RunState[] = ['running', 'finished', 'failed'];

/** Of `{"state": …}`. */
export function readRunFilters(filters: string | null | undefined): { readonly state?: RunState } {
  const read = filters ? readLoggedObject(filters) : {};
  const { state, ...others } = read ?? { filters };
  if (Object.keys(others).length > 0)
    throw new AppError(
      'invalid_request',
      'Runs can be filtered by {"state": …} only. Leave out other filters, and choose in your program.',
      { param: 'filters' },
    );
  if (state === undefined) return {};
  const known = STATES.find((each) => each === state);
  if (known) return { state: known };
  throw new AppError('invalid_request', `The state of a run is one of ${STATES.join(', ')}.`, { param: 'filters' });
}
