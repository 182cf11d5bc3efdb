// Ctrl-C in a command: prints one line that says what happened to its work, removes unfinished files, and exits with code 130. The
// default line is `Interrupted.`
import { rmSync } from 'node:fs';

const INTERRUPTED = 130;

interface Interruption {
  /** Says what happened to the work, and what to do next. */
  readonly line: () => string;
  /** Unfinished files and directories to delete. */
  readonly remove?: () => readonly string[];
}

/** Runs `work` with its own line for Ctrl-C; the innermost one applies. */
export async function interruptible<T>({ line, remove }: Interruption, work: () => Promise<T>): Promise<T> {
  const leave = (): never => {
    for (const path of remove?.() ?? []) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    return endInterrupted(line());
  };
  process.prependListener('SIGINT', leave);
  try {
    return await work();
  } finally {
    process.off('SIGINT', leave);
  }
}

function endInterrupted(line: string): never {
  const over = process.stderr.isTTY ? '\r\x1b[K' : ''; // overwrites the ^C, or a progress bar
  process.stderr.write(`${over}${line}\n`);
  process.exit(INTERRUPTED);
}

/** For downloads, which keep received bytes under another name until they are complete. */
export const GOES_ON = 'Interrupted: run the same command to continue where it stopped.';

/** The handler of every command, until it handles signals itself. */
export const sayInterrupted = (): never => endInterrupted('Interrupted.');
