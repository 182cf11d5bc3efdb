// What databases, disks and object stores say when they cannot work, in one error that names the cause: `storage_unavailable`.
// Whoever gets it may try again; nothing was half done. Other errors pass as they are: they are bugs, or answers.
import { AppError } from './errors.ts';

const RETRY_AFTER_SECONDS = 5;

/** By code, or the beginning of one, of libsql, node-postgres, Node and the AWS SDK. */
const CAUSES: readonly (readonly [codes: RegExp, cause: string])[] = [
  [/^(?:SQLITE_BUSY|SQLITE_LOCKED)/, 'The database is locked by another process'],
  [/^(?:SQLITE_FULL|ENOSPC|EDQUOT|53100)/, 'The disk is full'],
  [/^(?:SQLITE_READONLY|EROFS|25006)/, 'The disk or database can only be read'],
  [/^(?:EACCES|EPERM|SQLITE_CANTOPEN|SQLITE_PERM|AccessDenied)/, 'The server may not use its storage'],
  [/^(?:SQLITE_IOERR|EIO|58030)/, 'The disk has a fault'],
  [/^(?:SQLITE_CORRUPT|SQLITE_NOTADB)/, 'The database is damaged'],
  [/^(?:EMFILE|ENFILE|53300|SlowDown|503)/, 'Too many files or connections are open'],
  [/^(?:ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|08|57P|TimeoutError|NetworkingError)/, 'The database or blob store does not answer'], // prettier-ignore
  [/^(?:57014|55P03|40001|40P01)/, 'The database is too busy'],
] as const;

/** node-postgres gives no code for these. */
const LOST_CONNECTION = /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|server closed the connection/; // prettier-ignore

/** Null: not a fault of the storage. */
export function storageFault(error: unknown): AppError | null {
  if (!(error instanceof Error) || error instanceof AppError) return null;
  const { code, name } = error as NodeJS.ErrnoException;
  const known = CAUSES.find(([codes]) => codes.test(code ?? '') || (code === undefined && codes.test(name)));
  const cause = known?.[1] ?? (LOST_CONNECTION.test(error.message) ? 'The database does not answer' : null);
  if (cause === null) return null;
  return new AppError('storage_unavailable', `${cause}. Nothing was lost; try again.`, {
    cause: error,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
