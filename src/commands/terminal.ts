// The only way to stdout and stderr of all commands. Texts of a server (names, events, errors, answers) may hold characters that move the
// cursor, change colours or turn the direction of writing: on a terminal they are shown as escapes. Into files and pipes the text goes as it
// is. No other file of src names them (.oxlintrc.json).
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { escapeUnseen } from '#base/unseen-characters';

/** What a progress bar needs of stderr. */
export type Terminal = Pick<NodeJS.WriteStream, 'isTTY' | 'write'> & { readonly columns?: number };

const writeTo = (stream: Terminal, text: string): void => void stream.write(stream.isTTY ? escapeUnseen(text) : text);

export const writeOut = (text: string): void => writeTo(process.stdout, text);

export const writeError = (text: string): void => writeTo(process.stderr, text);

/** Replaces the line at the cursor of a terminal: a progress bar, or the ^C of an interruption. */
export const overwriteLine = (text: string, terminal: Terminal = process.stderr): void =>
  void terminal.write(`${terminal.isTTY ? '\r\x1b[K' : ''}${terminal.isTTY ? escapeUnseen(text) : text}`);

/** Writes all bytes to stdout. */
export async function pipeOut(content: ReadableStream): Promise<void> {
  const source = Readable.fromWeb(content);
  if (!process.stdout.isTTY) return pipeline(source, process.stdout, { end: false });
  const decoder = new TextDecoder();
  for await (const chunk of source as AsyncIterable<Uint8Array>) writeOut(decoder.decode(chunk, { stream: true }));
}

/** Whether results are read on a terminal, and how wide it is, if it says so. */
export const isOutTerminal = (): boolean => process.stdout.isTTY;
export const outColumns = (): number | undefined => process.stdout.columns;

/** Where progress is shown. */
export const errorTerminal = (): Terminal => process.stderr;

/** Notes and progress that cannot be written, on a full disk, change nothing of the work. */
export const goOnWithoutErrors = (): void => void process.stderr.on('error', () => {});

/** Calls back where results can no longer be written: with null where their reader, such as `head`, has seen enough of them, else with the cause. */
export function onOutEnd(end: (cause: Error | null) => void): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => end(error.code === 'EPIPE' ? null : ofOut(error)));
}

/** Why results that were just written into a file are not there; null: they are. */
export function outFault(): Error | null {
  const error: NodeJS.ErrnoException | null = process.stdout.errored;
  return error === null || error.code === 'EPIPE' ? null : ofOut(error);
}

/** Errors of files name their path. */
const ofOut = (error: Error): Error => Object.assign(error, { path: 'The output' });

/** Where questions are asked and conversations are typed. */
export const typing = () => ({ input: process.stdin, output: process.stderr });
