// Turns errors of databases, disks and object stores that cannot work into one error that names the cause: `storage_unavailable`.
// The caller may retry; nothing is half done. Other errors pass unchanged: they are bugs, or valid answers. The client's error names
// the cause; the log, which the operator reads, also says where it happened and what to do.
import { AppError } from './errors.ts';

const RETRY_AFTER_SECONDS = 5;

interface Cause {
  /** Error codes, or prefixes of them, of libsql, node-postgres, Node and the AWS SDK. */
  readonly codes: RegExp;
  readonly says: string;
  /** Advice for clients; default: to retry. */
  readonly then?: string;
  /** Advice for the operator. */
  readonly remedy: string;
}

const CAUSES: readonly Cause[] = [
  {
    codes: /^(?:SQLITE_BUSY|SQLITE_LOCKED)/,
    says: 'The database is locked by another process',
    remedy: 'Stop the process that holds it open.',
  },
  { codes: /^(?:SQLITE_FULL|ENOSPC|EDQUOT|53100)/, says: 'The disk is full', remedy: 'Free some space.' },
  {
    codes: /^(?:SQLITE_READONLY|EROFS|25006)/,
    says: 'The disk or database is read-only',
    remedy: 'Make it writable, or store the data elsewhere.',
  },
  {
    codes: /^(?:EACCES|EPERM|SQLITE_CANTOPEN|SQLITE_PERM|AccessDenied)/,
    says: 'The server has no permission to use its storage',
    remedy: 'Let the user that runs the server read and write there, or store the data elsewhere.',
  },
  {
    codes: /^(?:SQLITE_IOERR|EIO|58030)/,
    says: 'The disk reports an I/O error',
    remedy: 'Check the log of the operating system.',
  },
  {
    codes: /^(?:SQLITE_CORRUPT|SQLITE_NOTADB)/,
    says: 'The database is damaged',
    then: 'The operator has to repair it.',
    remedy:
      'Run `whetstone doctor` for details and `whetstone restore` to restore a backup, or store the data elsewhere.',
  },
  {
    codes: /^(?:EMFILE|ENFILE|53300|SlowDown|503)/,
    says: 'Too many files or connections are open',
    remedy: 'Raise the limit of open files or connections.',
  },
  {
    codes: /^(?:ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|08|57P|TimeoutError|NetworkingError)/,
    says: 'The database or blob store does not answer',
    remedy: 'Check its address and that it is running.',
  },
  { codes: /^(?:57014|55P03|40001|40P01)/, says: 'The database is too busy', remedy: 'Try again.' },
];

/** node-postgres gives no code for these. */
const LOST_CONNECTION: Cause = {
  codes:
    /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|server closed the connection/,
  says: 'The database does not answer',
  remedy: 'Check its address and that it is running.',
};

function causeOf(error: Error): Cause | null {
  const { code, name } = error as NodeJS.ErrnoException;
  const known = CAUSES.find(({ codes }) => codes.test(code ?? '') || (code === undefined && codes.test(name)));
  return known ?? (LOST_CONNECTION.codes.test(error.message) ? LOST_CONNECTION : null);
}

/** Returns null if the error is not a storage fault. */
export function storageFault(error: unknown): AppError | null {
  if (!(error instanceof Error) || error instanceof AppError) return null;
  const cause = causeOf(error);
  if (cause === null) return null;
  return new AppError('storage_unavailable', `${cause.says}. ${cause.then ?? 'Nothing was lost; try again.'}`, {
    cause: error,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** What the operator can do about it; null if it is not a storage fault. */
export const storageRemedy = (error: Error): string | null => causeOf(error)?.remedy ?? null;

/** A file exists where a directory belongs. Only a person can have put it there: a running server never meets it. */
const IN_THE_WAY = /^(?:EEXIST|ENOTDIR|EISDIR)$/;

/**
 * For the operator: what went wrong while a server was starting, whether or not the error was already classified. System messages
 * name the path of a file; SQLite's do not name the database.
 */
export function startingFault(error: unknown, database: string): AppError | null {
  const root = error instanceof AppError && error.code === 'storage_unavailable' ? error.cause : error;
  if (!(root instanceof Error) || root instanceof AppError) return null;
  const { code = '' } = root as NodeJS.ErrnoException;
  const cause = IN_THE_WAY.test(code)
    ? { says: 'A file is where a directory belongs', remedy: 'Move it away, or store the data elsewhere.' }
    : causeOf(root);
  if (cause === null) return null;
  const where = code.startsWith('SQLITE_') ? ` (${database})` : '';
  return new AppError('storage_unavailable', `${cause.says}${where}: ${root.message}. ${cause.remedy}`, {
    cause: root,
  });
}
