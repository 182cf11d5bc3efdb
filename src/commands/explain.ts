// The message of a failed command: the cause and, if known, what to do next, in one line.
import { AppError, UsageError } from '#domain/errors';
import { storageRemedy } from '#domain/storage-fault';
import { ArtifactFilesError } from '#client/artifact-files';
import { AnswerError, ApiError, TrainingFailedError } from '#client/client';
import { NameError } from '#client/paths';
import { asCalled } from './as-called.ts';
import { DISK_FULL } from './full-disk.ts';
import { isBroken, isTimeout, LostServerError } from './lost-server.ts';
import { routesAsCommands } from './routes-as-commands.ts';
import { fieldsAsFlags, idsAsNames } from './wire-words.ts';

const FAILED = 1;
export const CALLED_WRONGLY = 2;

export const exitCodeOf = (error: unknown): number => (error instanceof UsageError ? CALLED_WRONGLY : FAILED);

interface Speakers {
  /** The URL of the last server that was called; null: none. */
  readonly lastUrl: string | null;
  /** Whether it answered an earlier request. */
  readonly hasAnswered: boolean;
  /** The version of this command. */
  readonly version: string;
  /** The flags of the command in use. */
  readonly flags?: readonly string[];
}

/** Errors whose message is complete. */
const SAYS_ALL = [AppError, TrainingFailedError, ArtifactFilesError, NameError];

/** One line, with the commands in it as the user has to type them. */
export const explain = (error: unknown, speakers: Speakers): string => asCalled(whyOf(error, speakers));

function whyOf(error: unknown, speakers: Speakers): string {
  const { lastUrl, hasAnswered, version, flags = [] } = speakers;
  if (error instanceof LostServerError) return explainLoss(error, speakers);
  if (error instanceof ApiError) return explainAnswer(error, version, flags);
  if (error instanceof AppError && error.code === 'storage_unavailable') return explainStorage(error);
  if (SAYS_ALL.some((kind) => error instanceof kind)) return (error as Error).message;
  if (isWithoutTls(error))
    return `the server at ${lastUrl} does not speak TLS. Its address begins with http://, unless a proxy speaks TLS for it.`;
  if (isBroken(error))
    return hasAnswered
      ? `the connection to the server at ${lastUrl} was lost. Try again when it runs.`
      : `no server answers at ${lastUrl}. Start one with \`whetstone serve\`, or name another with --url or WHETSTONE_URL.`;
  if (isTimeout(error)) return `the server at ${lastUrl} did not answer in time. Try again, or check its log.`;
  if (error instanceof AnswerError)
    return `the server at ${lastUrl} does not answer as a Whetstone server: ${error.message} Check --url and WHETSTONE_URL.`;
  if (error instanceof Error && 'syscall' in error) return explainFile(error as NodeJS.ErrnoException);
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof TypeError && hasAnswered)
    return `the server at ${lastUrl} answers something that whetstone ${version} cannot read (${message}): it may have another version, or may not be a Whetstone server. DEBUG=whetstone shows where.`;
  return `${message}. This is a bug in Whetstone: run the command again with DEBUG=whetstone to see where it happens.`;
}

/** An https address of a server that speaks plain HTTP. */
function isWithoutTls(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : {};
  return isBroken(error) && /ERR_SSL_|EPROTO/.test(codeOf(cause) + codeOf(cause instanceof Error ? cause.cause : null));
}

const codeOf = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';

/** A server that never answered has nothing of the work. */
function explainLoss({ cause, message: outcome }: LostServerError, speakers: Speakers): string {
  const { lastUrl, hasAnswered } = speakers;
  if (!hasAnswered) return whyOf(cause, speakers);
  if (isBroken(cause)) return `the connection to the server at ${lastUrl} was lost. ${outcome}`;
  if (isTimeout(cause)) return `the server at ${lastUrl} did not answer in time. ${outcome}`;
  return `${whyOf(cause, speakers)} ${outcome}`;
}

function explainAnswer(
  { message: answered, code, requestId }: ApiError,
  own: string,
  flags: readonly string[],
): string {
  const said = routesAsCommands(answered)
    .replace('API key. Make one', 'API key. Check --key and WHETSTONE_API_KEY, or make one')
    .replace(' Send return_existing: true to get it.', ' Choose another name.')
    .replace(/^body\.(\w+): Value error, /, 'The $1 ')
    .replace(/ \(value_error\)$/, '')
    .replace(/`([^`]+)`.* has no checkpoint at step \d+\.$/, '$& List its steps with `whetstone checkpoints list $1`.');
  const message = idsAsNames(fieldsAsFlags(said, flags));
  const isUnknownRoute = code === 'not_found' && message.startsWith('Not Found: ');
  const version = isUnknownRoute
    ? ` This is whetstone ${own}: the server may have another version, or may not be a Whetstone server.`
    : '';
  return `${message}${version}${requestId ? ` (request ${requestId})` : ''}`;
}

/** The user of a command that opens storage is its operator, so the message says how to repair it. */
function explainStorage({ message, cause }: AppError): string {
  const remedy = cause instanceof Error ? storageRemedy(cause) : null;
  if (remedy === null) return message;
  return message.replace('Nothing was lost; try again.', `${remedy} Then run the command again.`);
}

/** Explains common file errors; rare ones keep the system's message, which names the file. */
function explainFile({ code, path, syscall, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' && syscall === 'mkdir')
    return `${path} cannot be created: its file system does not allow directories there. Choose another place.`;
  const faults: Readonly<Record<string, string>> = {
    ENOENT: 'does not exist',
    ENOTDIR: 'cannot exist: a part of its path is a file, not a directory',
    EISDIR: 'is a directory, not a file',
    EACCES: 'cannot be read or written by this user: change its permissions, or choose another path',
    EPERM: 'cannot be read or written by this user: change its permissions, or choose another path',
    EROFS: 'is on a read-only file system: choose another path',
    ENOSPC: DISK_FULL,
    EDQUOT: 'cannot be written: the quota of its disk is used up. Free some space, and run the command again',
  };
  const fault = faults[code ?? ''];
  if (code === 'ENOSPC' && !path) return 'The disk is full. Free some space, and run the command again.';
  return fault && path ? `${path} ${fault}.` : message;
}
