// What all commands share: lines for people or JSON for programs, and the question before something is deleted.
import { createInterface } from 'node:readline/promises';
import { Option, type Command } from 'commander';
import { AppError, UsageError } from '#domain/errors';

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

export interface JsonFlag {
  readonly json?: boolean;
}

export const withJson = (command: Command): Command => command.addOption(new Option('--json', 'print JSON'));

/** `value` under the API's names. */
export function show<T>({ json = false }: JsonFlag, value: T, lines: (value: T) => readonly string[]): void {
  if (json) say(JSON.stringify(value, null, 1));
  else for (const line of lines(value)) say(line);
}

/** A command that lists something by itself, and has commands below it: another word is one that it does not have. */
export const withoutWords = (command: Command): Command =>
  command.allowExcessArguments().hook('preAction', (_, acting) => {
    const [word] = acting.args;
    if (acting === command && word !== undefined)
      command.error(`error: unknown command '${word}'`, { code: 'commander.unknownCommand', exitCode: 1 });
  });

/** Cells of rows below each other. */
export function inColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  );
}

/** What a list without entries says. */
export const linesOr = (none: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [none] : lines;

/** `1 file`, `2 files` */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export async function all<T>(items: AsyncIterable<T>, countMax = Infinity): Promise<T[]> {
  const found: T[] = [];
  if (countMax > 0)
    for await (const item of items) {
      found.push(item);
      if (found.length >= countMax) break;
    }
  return found;
}

export interface YesFlag {
  readonly yes?: boolean;
}

export const withYes = (command: Command): Command =>
  command.option('--yes', 'do not ask for confirmation; needed where no terminal can be asked');

export interface Terminal {
  readonly isTTY: boolean;
  ask(question: string): Promise<string>;
}

/** Before something is deleted, revoked or replaced. Throws where the answer is not yes, or nobody can be asked. */
export async function confirm({ yes = false }: YesFlag, question: string, terminal = processTerminal): Promise<void> {
  if (yes) return;
  if (!terminal.isTTY)
    throw new UsageError(`${question} There is no terminal to answer at: add --yes to go ahead without being asked.`);
  if (/^y(?:es)?$/i.test((await terminal.ask(`${question} [y/N] `)).trim())) return;
  throw new AppError('cancelled', 'Nothing was changed.');
}

const processTerminal: Terminal = {
  isTTY: process.stdin.isTTY && process.stderr.isTTY,
  async ask(question) {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    lines.once('SIGINT', () => process.emit('SIGINT')); // a terminal hands readline its Ctrl-C
    const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    try {
      return await Promise.race([lines.question(question), closed]);
    } finally {
      lines.close();
    }
  },
};

/** Control characters, and those that turn the direction of a line, as spaces. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
