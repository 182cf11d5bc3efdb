// What a failed command says: a cause, and where it is known what to do next, in one line.
import { AppError, UsageError } from '#domain/errors';
import { ArtifactFilesError } from '#client/artifact-files';
import { ApiError, TrainingFailedError } from '#client/client';

const FAILED = 1;
export const CALLED_WRONGLY = 2;

export const exitCodeOf = (error: unknown): number => (error instanceof UsageError ? CALLED_WRONGLY : FAILED);

interface Speakers {
  /** Of the server that was spoken to; null: none was. */
  readonly lastUrl: string | null;
  /** Of this command. */
  readonly version: string;
}

export function explain(error: unknown, { lastUrl, version }: Speakers): string {
  if (error instanceof ApiError) return explainAnswer(error, version);
  if (error instanceof AppError || error instanceof TrainingFailedError || error instanceof ArtifactFilesError)
    return error.message;
  if (error instanceof TypeError && error.message === 'fetch failed')
    return `no server answers at ${lastUrl}. Start one with \`whetstone serve\`, or name another with --url or WHETSTONE_URL.`;
  if (error instanceof TypeError && error.message === 'terminated')
    return `the connection to ${lastUrl} broke. Try again.`;
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return `the server at ${lastUrl} did not answer in time. Try again, or look at its log.`;
  if (error instanceof SyntaxError && lastUrl !== null)
    return `what answers at ${lastUrl} is no Whetstone: its answer is not JSON. Look at --url and WHETSTONE_URL.`;
  if (error instanceof Error && 'syscall' in error) return explainFile(error as NodeJS.ErrnoException);
  const message = error instanceof Error ? error.message : String(error);
  return `${message}. This is a fault of Whetstone: DEBUG=whetstone shows where it comes from.`;
}

/** Answers name routes, for whoever sends requests; here is somebody who gives commands. */
const COMMANDS: Readonly<Record<string, string>> = {
  '/v1/preview/training-jobs': 'whetstone jobs list',
  '/v1/preview/models': 'whetstone models list',
  '/v1/models': 'whetstone models list',
  '/v1/artifacts': 'whetstone artifacts list',
  '/v1/keys': 'whetstone keys list',
};

function explainAnswer({ message: answered, code, requestId }: ApiError, own: string): string {
  const message = answered.replace(/GET (\/v1\/[\w/-]+)/g, (whole, route: string) =>
    route in COMMANDS ? `\`${COMMANDS[route]}\`` : whole,
  );
  const isUnknownRoute = code === 'not_found' && message.startsWith('Not Found: ');
  const version = isUnknownRoute
    ? ` This command is of version ${own}: the server may be of another one, or no Whetstone.`
    : '';
  return `${message}${version}${requestId ? ` (request ${requestId})` : ''}`;
}

/** What the system says of a file; the rarer faults in its own words, which name the file. */
function explainFile({ code, path, syscall, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' && syscall === 'mkdir')
    return `${path} cannot be made: its file system takes no directories there. Name another place.`;
  const faults: Readonly<Record<string, string>> = {
    ENOENT: 'does not exist',
    ENOTDIR: 'goes through a file as if it were a directory',
    EISDIR: 'is a directory, not a file',
    EACCES: 'may not be read or written by you: change its permissions, or name another',
    EPERM: 'may not be read or written by you: change its permissions, or name another',
    EROFS: 'is on a file system that is read-only: name another',
    ENOSPC: 'cannot be written: no space is left on its disk',
  };
  const fault = faults[code ?? ''];
  if (code === 'ENOSPC' && !path) return 'No space is left on the disk. Free some, and run the command again.';
  return fault && path ? `${path} ${fault}.` : message;
}
