// A command that writes what the user named, and whose disk is full: its error names that path, because errors of open files name none.
import { AppError } from '#domain/errors';

/** What is to be said of a path. */
export const DISK_FULL = 'cannot be written: its disk is full. Free some space, and run the command again';

const FULL = /^(?:ENOSPC|EDQUOT|SQLITE_FULL)/;

/** `path`: as the user named it. */
export async function writingTo<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isFull(error) && !(error instanceof AppError && isFull(error.cause))) throw error;
    throw new AppError('storage_unavailable', `${path} ${DISK_FULL}.`, { cause: error });
  }
}

const isFull = (error: unknown): boolean =>
  error instanceof Error && FULL.test(String((error as NodeJS.ErrnoException).code));
