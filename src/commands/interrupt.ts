// Ctrl-C in a command: prints one line that says what happened to its work, removes unfinished files, and exits with code 130. The
// default line is `Interrupted.` A lost server ends a command with the same words after the cause.
import { rmSync } from 'node:fs';
import { asCalled } from './as-called.ts';
import { isLostServer, LostServerError } from './lost-server.ts';
import { overwriteLine } from './terminal.ts';

const INTERRUPTED = 130;

interface Interruption {
  /** Says what happened to the work, and what to do next. */
  readonly line: () => string;
  /** The same for an error message, if the server is lost. */
  readonly lost?: string;
  /** Unfinished files and directories to delete. */
  readonly remove?: () => readonly string[];
}

/** Runs `work` with its own line for Ctrl-C; the innermost one applies. */
export async function interruptible<T>({ line, lost, remove }: Interruption, work: () => Promise<T>): Promise<T> {
  const clear = (): void => {
    for (const path of remove?.() ?? []) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  };
  const leave = (): never => {
    clear();
    return endInterrupted(line());
  };
  process.prependListener('SIGINT', leave);
  try {
    return await work();
  } catch (error) {
    if (lost === undefined || !isLostServer(error)) throw error;
    clear();
    throw new LostServerError(error, lost);
  } finally {
    process.off('SIGINT', leave);
  }
}

function endInterrupted(line: string): never {
  overwriteLine(`${asCalled(line)}\n`); // over the ^C, or a progress bar
  process.exit(INTERRUPTED);
}

/** For downloads, which keep received bytes under another name until they are complete. */
export const GOES_ON = {
  line: () => 'Interrupted: run the same command to continue where it stopped.',
  lost: 'What has arrived is kept; an incomplete file ends in .part. Run the same command to continue there.',
};

/** The handler of every command, until it handles signals itself. */
export const sayInterrupted = (): never => endInterrupted('Interrupted.');
