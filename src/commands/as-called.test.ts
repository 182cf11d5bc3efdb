// How a command has to be typed, by how the program was called, and where that is put into a text.
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asCalled, callOf } from './as-called.ts';

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'whetstone-called-')));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function file(...path: string[]): Promise<string> {
  const at = join(root, ...path);
  await mkdir(dirname(at), { recursive: true });
  await writeFile(at, '');
  await chmod(at, 0o755);
  return at;
}

/** As npm does: a link in one directory to the program in another. */
async function link(target: string, ...path: string[]): Promise<string> {
  const at = join(root, ...path);
  await mkdir(dirname(at), { recursive: true });
  await symlink(target, at);
  return at;
}

test('a local installation is called with npx, whoever put its directory into PATH', async () => {
  const program = await file('project', 'node_modules', 'whetstone', 'dist', 'cli.js');
  const called = await link(program, 'project', 'node_modules', '.bin', 'whetstone');
  const directory = join(root, 'project');
  const withBin = ['/usr/bin', dirname(called)].join(delimiter);
  expect(callOf({ file: called, directory, env: { npm_command: 'exec', PATH: withBin } })).toBe('npx whetstone');
  expect(callOf({ file: called, directory, env: { npm_command: 'run-script', PATH: withBin } })).toBe('npx whetstone');
  expect(callOf({ file: called, directory, env: { PATH: '/usr/bin' } })).toBe('npx whetstone');
  expect(callOf({ file: called, directory, env: { PATH: withBin } })).toBe('whetstone'); // the user put it there
  expect(callOf({ file: program, directory, env: { npm_command: 'exec' } })).toBe('npx whetstone'); // Windows
  const linked = await link(await file('clone', 'dist', 'cli.js'), 'other', 'node_modules', '.bin', 'whetstone');
  expect(callOf({ file: linked, directory, env: { npm_command: 'exec', PATH: '' } })).toBe('npx whetstone'); // npm install ../clone
});

test('a global installation and the image are called by their name', async () => {
  const program = await file('lib', 'node_modules', 'whetstone', 'dist', 'cli.js');
  const called = await link(program, 'bin', 'whetstone');
  const env = { PATH: dirname(called) };
  expect(callOf({ file: called, directory: root, env })).toBe('whetstone');
  const ofImage = await file('opt', 'whetstone', 'dist', 'cli.js');
  await link(ofImage, 'usr', 'whetstone');
  expect(callOf({ file: ofImage, directory: root, env: { PATH: join(root, 'usr') } })).toBe('whetstone');
});

test('in a clone it is the built file, from where the user is, also during development', async () => {
  const built = await file('clone', 'dist', 'cli.js');
  const source = await file('clone', 'src', 'cli.ts');
  const call = { directory: join(root, 'clone'), env: { PATH: '/usr/bin', npm_command: 'run-script' } };
  expect(callOf({ ...call, file: built })).toBe('node dist/cli.js');
  expect(callOf({ ...call, file: source })).toBe('node dist/cli.js');
  expect(callOf({ ...call, file: built, directory: join(root, 'elsewhere') })).toBe('node ../clone/dist/cli.js');
});

test('commands are shown as they have to be typed, and nothing else changes', () => {
  const npx = (text: string) => asCalled(text, 'npx whetstone');
  expect(npx('See: whetstone jobs get 1. List them with `whetstone keys list`.')).toBe(
    'See: npx whetstone jobs get 1. List them with `npx whetstone keys list`.',
  );
  expect(npx('Usage: whetstone [options] [command]')).toBe('Usage: npx whetstone [options] [command]');
  for (const same of [
    'whetstone listening on http://127.0.0.1:8484',
    'This is whetstone 0.2.0.',
    'Use the newer whetstone that wrote it.',
    '`whetstone-worker run --model m`',
    '/opt/whetstone serve',
    'npx whetstone serve',
  ])
    expect(npx(same)).toBe(same);
  expect(asCalled('`whetstone serve`', 'whetstone')).toBe('`whetstone serve`');
});
