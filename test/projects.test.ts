// Every test file belongs to exactly one project of vitest.config.ts, and those that need a Python environment to `python`, or to
// `install`.
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { LANES, LONGEST, TEST_PROJECTS, WITHOUT_OTHERS, type TestProject } from './projects.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

const files = ['src', 'dashboard/src', 'test'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.split(sep).join('/')}`)
    .filter((path) => path.endsWith('.test.ts') && !path.includes('/node_modules/')),
);

/** Of globs, the table uses these two: `**` with a slash for any folders, and `*` for a part of a name. */
const expressionOf = (glob: string): RegExp => {
  const parts = glob.split(/(\*\*\/|\*)/).map((part) => {
    if (part === '**/') return '(?:.+/)?';
    return part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`);
};
const matches = (globs: readonly string[], file: string) => globs.some((glob) => expressionOf(glob).test(file));
const has = ({ include, exclude }: TestProject, file: string) => matches(include, file) && !matches(exclude, file);
const projectsOf = (file: string): string[] =>
  TEST_PROJECTS.filter((project) => has(project, file)).map(({ name }) => name);

const ASKS = /^import .*\bskipWithoutPython\b.* from '(?:\.\.\/)+support\/skipping\.ts'/m;

test('every test file belongs to exactly one project', () => {
  expect(files.length).toBeGreaterThan(300);
  expect(files.filter((file) => projectsOf(file).length !== 1)).toEqual([]);
});

test('every glob of the table matches a file', () => {
  const globs = TEST_PROJECTS.flatMap(({ include, exclude }) => [...include, ...exclude]);
  expect(globs.filter((glob) => !files.some((file) => matches([glob], file)))).toEqual([]);
});

test('every project runs in one lane', () => {
  expect(LANES.flat().sort()).toEqual(TEST_PROJECTS.map(({ name }) => name).sort());
});

test('files that run first or without others are there', () => {
  const named = [...LONGEST, ...Object.values(WITHOUT_OTHERS).flat()];
  expect(named.filter((file) => !files.includes(file))).toEqual([]);
});

test('a folder of test has the name of a project, or is test/support', () => {
  const sources = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && path.includes(sep) && !path.includes('node_modules'))
    .map((path) => path.slice(0, path.indexOf(sep)));
  const besideTheSources = ['unit', 'process'];
  const projects = TEST_PROJECTS.map(({ name }): string => name).filter((name) => !besideTheSources.includes(name));
  expect([...new Set(sources)].sort()).toEqual([...projects, 'support'].sort());
});

test('files that need a Python environment are in the project python, or in install', () => {
  const asks = files.filter((file) => ASKS.test(readFileSync(join(ROOT, file), 'utf8')));
  const named = files.filter((file) => projectsOf(file).includes('python'));
  const needing = asks.filter((file) => !file.startsWith('test/install/'));
  expect(named.sort()).toEqual(needing.sort());
});
