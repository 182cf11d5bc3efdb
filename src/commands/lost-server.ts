// A server that stops while a command uses it: what the command prints while it tries again, and how its error says what happened to
// the work.
import { ApiError, type OnConnection } from '#client/client';
import { TRANSFER_ATTEMPTS } from '#client/retry';
import { writeError } from './terminal.ts';

/** The work ended because the server was lost. The message says what happened to the work, and what to do next. */
export class LostServerError extends Error {
  override readonly name = 'LostServerError';

  constructor(cause: unknown, outcome: string) {
    super(outcome, { cause });
  }
}

const AWAY = [502, 503, 504];

/** Whether the connection broke or the server was away, as opposed to an answer that the same request would get again. */
export function isLostServer(error: unknown): boolean {
  return isTimeout(error) || isBroken(error) || (error instanceof ApiError && AWAY.includes(error.status));
}

/** Whether the server did not answer in time. */
export const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';

/** Whether there is no connection to the server, or it broke. */
export const isBroken = (error: unknown): boolean =>
  error instanceof TypeError && /^(?:fetch failed|terminated$)/.test(error.message);

/** How to continue a push. */
export const AGAIN = 'Run the same command again: it sends only what the server does not have yet.';

/** How often transfers try again while the server is away. */
export const TRANSFER_RETRIES = `up to ${TRANSFER_ATTEMPTS - 1} times`;

/** Prints once that the connection is lost, and once that the server answers again. */
export function sayLost(
  endBar: () => void,
  howLong: string,
  warn: (line: string) => void = (line) => writeError(`${line}\n`),
): OnConnection {
  let isLost = false;
  return (lost) => {
    if ((lost !== null) === isLost) return;
    isLost = lost !== null;
    endBar();
    if (lost === null) warn('The server answers again.');
    else {
      const what = lost instanceof ApiError ? 'The server cannot answer' : 'Connection to the server lost';
      warn(`${what}: ${causeOf(lost)}. Trying again ${howLong}.`);
    }
  };
}

/** The first sentence: a server that stops also says how programs continue. */
export function causeOf(lost: unknown): string {
  if (!(lost instanceof Error)) return 'it does not answer';
  if (lost.message === 'terminated') return 'it was closed before the end of the answer';
  const [cause] = lost.message.replace(/^fetch failed: /, '').split(/\.(?: |$)/);
  return cause!;
}
