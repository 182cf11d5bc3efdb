// What databases, disks and object stores say when they cannot work, in one error that names the cause: `storage_unavailable`.
// Whoever gets it may try again; nothing was half done. Other errors pass as they are: they are bugs, or answers. The client's
// error names the cause; the log, which the operator of the storage reads, also says where it is and what to do.
import { AppError } from './errors.ts';

const RETRY_AFTER_SECONDS = 5;

interface Cause {
  /** Codes, or the beginnings of some, of libsql, node-postgres, Node and the AWS SDK. */
  readonly codes: RegExp;
  readonly says: string;
  /** To clients; default: that they may try again. */
  readonly then?: string;
  /** To the operator. */
  readonly remedy: string;
}

const CAUSES: readonly Cause[] = [
  {
    codes: /^(?:SQLITE_BUSY|SQLITE_LOCKED)/,
    says: 'The database is locked by another process',
    remedy: 'Stop the process that has it open.',
  },
  { codes: /^(?:SQLITE_FULL|ENOSPC|EDQUOT|53100)/, says: 'The disk is full', remedy: 'Free some space.' },
  {
    codes: /^(?:SQLITE_READONLY|EROFS|25006)/,
    says: 'The disk or database can only be read',
    remedy: 'Make it writable, or choose another place for the data.',
  },
  {
    codes: /^(?:EACCES|EPERM|SQLITE_CANTOPEN|SQLITE_PERM|AccessDenied)/,
    says: 'The server may not use its storage',
    remedy: 'Let the user that runs the server read and write there, or choose another place for the data.',
  },
  {
    codes: /^(?:SQLITE_IOERR|EIO|58030)/,
    says: 'The disk has a fault',
    remedy: 'Look at the log of the operating system.',
  },
  {
    codes: /^(?:SQLITE_CORRUPT|SQLITE_NOTADB)/,
    says: 'The database is damaged',
    then: 'Its operator has to look at it.',
    remedy:
      '`whetstone doctor` says more, `whetstone restore` brings a backup back; or choose another place for the data.',
  },
  {
    codes: /^(?:EMFILE|ENFILE|53300|SlowDown|503)/,
    says: 'Too many files or connections are open',
    remedy: 'Raise the limit of open files or connections.',
  },
  {
    codes: /^(?:ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|08|57P|TimeoutError|NetworkingError)/,
    says: 'The database or blob store does not answer',
    remedy: 'Look at its address, and whether it runs.',
  },
  { codes: /^(?:57014|55P03|40001|40P01)/, says: 'The database is too busy', remedy: 'Try again.' },
];

/** node-postgres gives no code for these. */
const LOST_CONNECTION: Cause = {
  codes:
    /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|server closed the connection/,
  says: 'The database does not answer',
  remedy: 'Look at its address, and whether it runs.',
};

function causeOf(error: Error): Cause | null {
  const { code, name } = error as NodeJS.ErrnoException;
  const known = CAUSES.find(({ codes }) => codes.test(code ?? '') || (code === undefined && codes.test(name)));
  return known ?? (LOST_CONNECTION.codes.test(error.message) ? LOST_CONNECTION : null);
}

/** Null: not a fault of the storage. */
export function storageFault(error: unknown): AppError | null {
  if (!(error instanceof Error) || error instanceof AppError) return null;
  const cause = causeOf(error);
  if (cause === null) return null;
  return new AppError('storage_unavailable', `${cause.says}. ${cause.then ?? 'Nothing was lost; try again.'}`, {
    cause: error,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** What an operator may do about it; null: not a fault of the storage. */
export const storageRemedy = (error: Error): string | null => causeOf(error)?.remedy ?? null;

/** A file where a directory belongs, which only a person can have put there: a running server never meets it. */
const IN_THE_WAY = /^(?:EEXIST|ENOTDIR|EISDIR)$/;

/**
 * For the operator, of what went wrong while a server was starting, under its name already or not. The system's words
 * name the path of a file; those of SQLite do not name its database.
 */
export function startingFault(error: unknown, database: string): AppError | null {
  const root = error instanceof AppError && error.code === 'storage_unavailable' ? error.cause : error;
  if (!(root instanceof Error) || root instanceof AppError) return null;
  const { code = '' } = root as NodeJS.ErrnoException;
  const cause = IN_THE_WAY.test(code)
    ? { says: 'A file is where a directory belongs', remedy: 'Move it away, or choose another place for the data.' }
    : causeOf(root);
  if (cause === null) return null;
  const where = code.startsWith('SQLITE_') ? ` (${database})` : '';
  return new AppError('storage_unavailable', `${cause.says}${where}: ${root.message}. ${cause.remedy}`, {
    cause: root,
  });
}
