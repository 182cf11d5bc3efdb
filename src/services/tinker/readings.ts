// Reading the data of a stored operation may end the server, by memory or by a fault of ours, and a stored operation is executed again
// when the server is back. So the beginning of each reading is stored, and an operation whose reading never ended fails at last.
import { AppError } from '#domain/errors';
import type { RunAttempt, TinkerStore } from '#storage/tinker-store';

const UNENDED_MAX = 2;

/** Throws `damaged_data` instead of reading a third time. */
export async function readBounded<T>(
  store: Pick<TinkerStore, 'beginReading' | 'endReading'>,
  attempt: RunAttempt,
  seq: number,
  read: () => Promise<T>,
): Promise<T> {
  if ((await store.beginReading(attempt, seq)) > UNENDED_MAX)
    throw new AppError(
      'damaged_data',
      `The server ended ${UNENDED_MAX} times while it read the data of request ${seq}, so it was not read again. Send fewer data at once.`,
    );
  try {
    return await read();
  } finally {
    await store.endReading(attempt, seq);
  }
}
