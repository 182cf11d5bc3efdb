// What all commands share: output as lines or as JSON, and the confirmation before something is deleted.
import { createInterface } from 'node:readline/promises';
import { Option, type Command } from 'commander';
import { escapeUnseen } from '#base/unseen-characters';
import { AppError, UsageError } from '#domain/errors';
import { asCalled } from './as-called.ts';
import { inColumns, inColumnsWithin, type Rows } from './columns.ts';
import { errorTerminal, isOutTerminal, outColumns, typing, writeError, writeOut } from './terminal.ts';

export const say = (line: string): void => writeOut(`${line}\n`);
/** For people: programs that read the output do not get it. */
export const note = (line: string): void => writeError(`${asCalled(line)}\n`);

export interface JsonFlag {
  readonly json?: boolean;
}

export const withJson = (command: Command): Command => command.addOption(new Option('--json', 'print JSON'));

/** `value` has the names of the API. */
export function show<T>({ json = false }: JsonFlag, value: T, lines: (value: T) => readonly string[]): void {
  if (json) say(JSON.stringify(value, null, 1));
  else for (const line of lines(value)) say(line);
}

/** For a command that lists something itself and also has subcommands: any other word is an unknown command. */
export const withoutWords = (command: Command): Command =>
  command.allowExcessArguments().hook('preAction', (_, acting) => {
    const [word] = acting.args;
    if (acting === command && word !== undefined)
      command.error(`error: unknown command '${word}'`, { code: 'commander.unknownCommand', exitCode: 1 });
  });

/**
 * Rows in columns below a header; `none` is printed for an empty list. On a terminal that is too narrow the columns go on under each
 * row; programs get one line per row.
 */
export function table(none: string, header: readonly string[], rows: Rows): string[] {
  if (rows.length === 0) return [none];
  const width = isOutTerminal() ? outColumns() : undefined;
  return width === undefined ? inColumns([header, ...rows]) : inColumnsWithin(width, [header, ...rows]);
}

/** `none` is printed for an empty list. */
export const linesOr = (none: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [none] : lines;

/** A server whose pages never end must not fill the memory. */
const LIST_MAX = 1_000_000;

/** The first `countMax` items. Throws if there are more than a million. */
export async function all<T>(items: AsyncIterable<T>, countMax = Infinity): Promise<T[]> {
  const found: T[] = [];
  if (countMax > 0)
    for await (const item of items) {
      if (found.length >= LIST_MAX) throw new AppError('invalid_request', `The list has more than ${LIST_MAX} rows.`);
      found.push(item);
      if (found.length >= countMax) break;
    }
  return found;
}

export interface YesFlag {
  readonly yes?: boolean;
}

export const withYes = (command: Command): Command =>
  command.option('--yes', 'do not ask for confirmation; required without a terminal');

export interface Asking {
  readonly isTTY: boolean;
  ask(question: string): Promise<string>;
}

/** Asks before something is deleted, revoked or replaced. Throws if the answer is not yes, or if there is no terminal. */
export async function confirm({ yes = false }: YesFlag, question: string, terminal = processTerminal): Promise<void> {
  if (yes) return;
  if (!terminal.isTTY)
    throw new UsageError(`${question} There is no terminal to ask: add --yes to go ahead without confirmation.`);
  if (/^y(?:es)?$/i.test((await terminal.ask(`${question} [y/N] `)).trim())) return;
  throw new AppError('cancelled', 'Nothing was changed.');
}

const processTerminal: Asking = {
  isTTY: process.stdin.isTTY && errorTerminal().isTTY,
  async ask(question) {
    const lines = createInterface(typing());
    lines.once('SIGINT', () => process.emit('SIGINT')); // readline receives Ctrl-C in place of the process
    const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    try {
      return await Promise.race([lines.question(escapeUnseen(question)), closed]);
    } finally {
      lines.close();
    }
  },
};

/** Replaces control characters, and those that change the direction of text, by spaces. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');

/** At most so many characters, with a mark where the rest is left out. */
export const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${wholeCharacters(text.slice(0, most))} …`;

/** Without half of a character, such as an emoji, at an end where a text was cut. */
export const wholeCharacters = (text: string): string => text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
