// Texts of ours quote commands as `whetstone jobs list`. Whoever installed the package into a project types `npx whetstone jobs list`, and
// in a clone it is `node dist/cli.js jobs list`: this file tells which, and puts it into the texts for people. What a model or a user
// wrote, and JSON, must not come here.
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join, relative, sep } from 'node:path';

/** The words that follow `whetstone` in a command: its commands, a flag, or the brackets of a usage line. */
export const FIRST_WORDS = [
  ...['serve', 'workers', 'chat', 'models', 'probe', 'train', 'jobs', 'episodes', 'checkpoints', 'artifacts', 'usage'],
  ...['webhooks', 'data', 'keys', 'limits', 'doctor', 'backup', 'restore', 'migrate', 'completion', 'help'],
];

const OURS = new RegExp(String.raw`(?<![\w/.-]|npx )whetstone(?= (?:(?:${FIRST_WORDS.join('|')})\b|--|\[))`, 'g');

/** The text with its commands as they have to be typed. */
export const asCalled = (text: string, call?: string): string => text.replace(OURS, () => call ?? callOf(thisCall()));

export interface Call {
  /** Node's argv[1]: the file that was run, or the link that led to it. */
  readonly file: string;
  readonly directory: string;
  /** PATH and what npm sets. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const thisCall = (): Call => ({ file: process.argv[1] ?? '', directory: process.cwd(), env: process.env });

/** What the user has to type instead of `whetstone`. */
export function callOf({ file, directory, env }: Call): string {
  const isOurs = /[\\/](?:whetstone|cli\.[jt]s)$/.test(file);
  if (!isOurs) return 'whetstone'; // another program runs our commands: a test
  const program = targetOf(file);
  const isInstalled = [file, program].some((path) => path.split(sep).includes('node_modules'));
  if (isInstalled && env['npm_command']) return 'npx whetstone'; // npm puts the package's commands into PATH, and the user has them not
  if (isInPath(program, env['PATH'] ?? env['Path'] ?? '')) return 'whetstone';
  if (isInstalled) return 'npx whetstone';
  const built = program.replace(/([\\/])src([\\/])cli\.ts$/, '$1dist$2cli.js');
  const near = relative(directory, built);
  return `node ${near.startsWith('..') && built.length < near.length ? built : near}`;
}

function targetOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file; // its directory may have been deleted meanwhile
  }
}

/** Whether `whetstone` alone runs this program. On Windows a script next to the package does. */
const isInPath = (program: string, path: string): boolean =>
  path
    .split(delimiter)
    .filter((directory) => directory !== '')
    .some(
      (directory) =>
        targetOf(join(directory, 'whetstone')) === program ||
        (existsSync(join(directory, 'whetstone.cmd')) && program.startsWith(join(directory, 'node_modules', sep))),
    );
