// Ctrl-C in a command: one line that says what became of its work, nothing half-written, and exit code 130. Without anything special to
// say, the line is `Interrupted.`
import { rmSync } from 'node:fs';

const INTERRUPTED = 130;

interface Interruption {
  /** What became of the work, and what to do next. */
  readonly line: () => string;
  /** What is half-written then, and goes. */
  readonly remove?: () => readonly string[];
}

/** `work` with a line of its own; the innermost one counts. */
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
  const over = process.stderr.isTTY ? '\r\x1b[K' : ''; // the ^C, or a bar
  process.stderr.write(`${over}${line}\n`);
  process.exit(INTERRUPTED);
}

/** Of downloads, which keep what has arrived under another name until it is whole. */
export const GOES_ON = 'Interrupted: run the same command to continue where it stopped.';

/** Of every command, until it handles signals itself. */
export const sayInterrupted = (): never => endInterrupted('Interrupted.');
