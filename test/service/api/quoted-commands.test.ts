// Every command that a message, a help text or a page quotes exists, with its flags: a user types it as it stands.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { FIRST_WORDS } from '../../../src/commands/as-called.ts';
import { routesAsCommands } from '../../../src/commands/routes-as-commands.ts';
import { FAILURES } from './failing-calls.ts';
import { newProgram, runWithNpx } from './run-command.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const { program } = newProgram();
const SCRIPTS = Object.keys(
  (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object }).scripts,
);

/** In backticks, in <code>, after a prompt, or as the advice that ends a sentence: `See: whetstone jobs get ${id}`. */
const QUOTED = [
  /`(?:npx )?(whetstone (?!listening )[^`]+)`/g,
  /\\`(?:npx )?(whetstone [^`\\]+)\\`/g,
  /<code>(?:npx )?(whetstone [^<]+)<\/code>/g,
  /^ *\$ (whetstone .+?)(?: {2,}.*)?$/gm,
  /: (whetstone (?!has\b)[a-z]+(?: [a-z]+)?)/g,
];
const RUN_SCRIPT = /npm run ([\w:-]+)/g;

/** What is wrong with the command; null: nothing. */
function faultOf(words: readonly string[]): string | null {
  let command: Command = program;
  for (const word of words) {
    if (word.startsWith('--')) {
      const [flag] = word.replace(/[.,;:)]+$/, '').split('=');
      const isKnown = command.options.some(({ long, negate }) => long === flag || (negate && long === flag));
      if (!isKnown && flag !== '--help') return `${command.name()} has no ${flag}`;
    } else if (command.commands.length > 0) {
      const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
      if (next) command = next;
      else if (/^[a-z][a-z-]*$/.test(word)) return `${command.name()} has no command ${word}`;
    }
  }
  return null;
}

const filesIn = (folder: string, name: RegExp): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => name.test(file) && !file.includes('.test.') && !file.endsWith('openapi.ts'))
    .map((file) => join(folder, file));

const SOURCES = [...filesIn('src', /\.ts$/), ...filesIn('dashboard/src', /\.tsx?$/)];

function quotedIn(file: string): { command: string; fault: string | null }[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const commands = QUOTED.flatMap((form) => [...text.matchAll(form)].map(([, command]) => command!));
  const scripts = file.startsWith('src/') ? [] : [...text.matchAll(RUN_SCRIPT)].map(([, script]) => script!);
  return [
    ...commands.map((command) => {
      const [, ...words] = command.split(' | ')[0]!.trim().split(/\s+/);
      return { command, fault: faultOf(words) };
    }),
    ...scripts.map((script) => ({ command: script, fault: SCRIPTS.includes(script) ? null : 'is no npm script' })),
  ];
}

test('every quoted command exists, with its flags', () => {
  const quoted = SOURCES.flatMap((file) => quotedIn(file).map((each) => ({ file, ...each })));
  expect(quoted.filter(({ fault }) => fault !== null)).toEqual([]);
  expect(quoted.length).toBeGreaterThan(40); // the search finds them
});

test('the commands that are shown as they have to be typed are those of the program', () => {
  expect([...FIRST_WORDS].sort()).toEqual(program.commands.map((each) => each.name()).sort());
});

/** A command as only a global installation knows it. */
const GLOBAL = new RegExp(
  String.raw`(?<!npx |-F _)\bwhetstone (?:${FIRST_WORDS.join('|')})\b|(?<!npx )whetstone --help`,
);

const FAILING = Object.entries(FAILURES).map(([name, [args]]) => ({ name, args: [...name.split(' '), ...args] }));

test.each(FAILING)(
  'after npx whetstone $name every command that is printed begins with npx',
  async ({ name, args }) => {
    const [help, failed, wrong] = [
      await runWithNpx(...name.split(' '), '--help'),
      await runWithNpx(...args),
      await runWithNpx(...args, '--nonsense'),
    ];
    expect(help.stdout).toContain(`Usage: npx whetstone ${name}`);
    expect(wrong.stderr).toContain(`See: npx whetstone ${name} --help\n`);
    for (const text of [help.stdout, failed.stdout, failed.stderr, failed.said]) expect(text).not.toMatch(GLOBAL);
  },
);

test('the first steps of the program too', async () => {
  const { stdout } = await runWithNpx('--help');
  expect(stdout).toContain('  $ npx whetstone serve  ');
  expect(stdout).not.toMatch(GLOBAL);
});

/** Of routes that no command calls. */
const WITHOUT_COMMAND = ['GET /v1/runs', 'POST /v1/preview/episodes'];

test('every route that a refusal names is a command in the command line', () => {
  const named = filesIn('src/services', /\.ts$/).flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .filter((line) => /['"`].*(GET|POST|PUT|DELETE) \/v1/.test(line) && !/^\s*(\/\/|\*|\/\*)/.test(line))
      .map((line) => line.replaceAll(/\$\{[^}]+\}/g, '0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01')),
  );
  expect(named.length).toBeGreaterThan(8); // the search finds them
  const left = named.flatMap((line) => routesAsCommands(line).match(/(GET|POST|PUT|DELETE) \/v1[\w/{}-]+/g) ?? []);
  expect(left.filter((route) => !WITHOUT_COMMAND.includes(route))).toEqual([]);
});

test.each([
  ['jobs list --limit 3', null],
  ['artifacts put', 'artifacts has no command put'],
  ['compare', 'whetstone has no command compare'],
  ['train rows.jsonl --modell p/m', 'train has no --modell'],
])('whetstone %s: %s', (command, fault) => expect(faultOf(command.split(' '))).toBe(fault));
