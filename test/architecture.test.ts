// Imports go one way. Inside a folder they are relative, between folders they begin with `#`, so that crossing a layer shows
// in the import line; this file says which crossings there are.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));

/** Folder → folders whose modules it may import. main.ts, cli.ts and config.ts (here '') wire everything and may import all. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  domain: ['base'],
  engine: ['base', 'domain'],
  storage: ['base', 'domain'],
  text: ['base', 'domain'],
  training: ['base', 'domain', 'engine'],
  services: ['base', 'domain', 'engine', 'storage', 'text', 'training'],
  api: ['base', 'domain', 'services'],
  client: [],
  server: ['', 'base', 'domain', 'engine', 'services', 'storage', 'text', 'training'],
  maintenance: ['', 'base', 'domain', 'commands', 'server', 'services', 'storage'],
  commands: ['base', 'domain', 'client', 'engine', 'services', 'storage'],
};

/** Services and training see interfaces; implementations are main.ts's to name. */
const INTERFACES: Readonly<Record<string, RegExp>> = {
  engine: /^engine\/(inference-engine|training-engine|loss-program)$/,
  storage: /^storage\/(storage|account-store|artifact-store|blobs|directory-checksums|inventory|webhook-store)$/,
};

interface Import {
  readonly file: string;
  readonly from: string;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => path.split(sep).join('/'));

const imports: Import[] = files.flatMap((file) => {
  const source = readFileSync(join(SRC, file), 'utf8');
  return [...source.matchAll(/(?:from|import)\s*\(?'([#.][^']*)'/g)].map((match) => ({ file, from: match[1]! }));
});

const folderOf = (path: string): string => (path.includes('/') ? path.split('/')[0]! : '');

test('every folder of src is in the table', () => {
  const folders = new Set(files.map(folderOf).filter((folder) => folder !== ''));
  expect([...folders].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
});

test('folders import only from the layers below them', () => {
  const crossings = imports.filter(({ file, from }) => {
    const folder = folderOf(file);
    if (folder === '' || !from.startsWith('#')) return false;
    return !MAY_IMPORT[folder]!.includes(folderOf(from.slice(1)));
  });
  expect(crossings).toEqual([]);
});

test('relative imports stay inside their top-level folder', () => {
  const leaving = imports.filter(({ file, from }) => {
    if (folderOf(file) === '' || !from.startsWith('.')) return false;
    const target = relative(SRC, join(SRC, file, '..', from))
      .split(sep)
      .join('/');
    return folderOf(target) !== folderOf(file);
  });
  expect(leaving).toEqual([]);
});

test('services and training name interfaces of engines and storage, not implementations', () => {
  const named = imports.filter(({ file, from }) => {
    const target = from.slice(1);
    const allowed = INTERFACES[folderOf(target)];
    return (
      from.startsWith('#') &&
      ['services', 'training'].includes(folderOf(file)) &&
      allowed !== undefined &&
      !allowed.test(target)
    );
  });
  expect(named).toEqual([]);
});

test('there are imports to check', () => {
  expect(imports.length).toBeGreaterThan(100);
});
