// The structure of the tree. Imports go one way: inside a folder they are relative, between folders they begin with `#`, so that
// an import line shows that it crosses a layer, and this file lists the permitted crossings. ARCHITECTURE.md describes the
// folders.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const SRC = join(ROOT, 'src');
const CODE = ['src', 'bench', 'dashboard/src', 'examples', 'scripts', 'test'];

/**
 * Room → rooms whose modules it may import, from the ground up. A room is a folder of src, or one of its two files: cli.ts runs a
 * command, main.ts starts a server. No room is exempt.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  client: [],
  domain: [],
  grammar: ['base', 'domain'],
  text: ['base', 'domain'],
  'model-files': ['base', 'domain', 'text'],
  engine: ['base', 'domain', 'grammar', 'model-files'],
  storage: ['base', 'domain'],
  training: ['base', 'domain', 'engine'],
  validation: ['base'],
  rows: ['base', 'domain', 'validation'],
  services: ['base', 'domain', 'engine', 'rows', 'storage', 'text', 'training'],
  api: ['base', 'domain', 'rows', 'services', 'validation'],
  config: ['api', 'base', 'domain', 'engine', 'services'],
  server: ['base', 'config', 'domain', 'engine', 'model-files', 'services', 'storage', 'text'],
  maintenance: ['base', 'config', 'domain', 'server', 'services', 'storage'],
  main: ['api', 'base', 'config', 'domain', 'engine', 'maintenance', 'model-files', 'server', 'services', 'storage'],
  commands: [
    'base',
    'client',
    'config',
    'domain',
    'main',
    'maintenance',
    'model-files',
    'rows',
    'server',
    'services',
    'storage',
    'validation',
  ],
  cli: ['commands', 'config'],
};

/** Services and training see interfaces; only main.ts names implementations. */
const INTERFACES: Readonly<Record<string, RegExp>> = {
  engine: /^engine\/(capabilities|inference-engine|training-engine|loss-program|engine-lost)$/,
  storage:
    /^storage\/(storage|account-store|artifact-store|blobs|directory-checksums|episode-store|evaluation-store|inventory|online-training-store|response-store|run-store|tinker-store|webhook-store)$/,
};

interface Import {
  readonly file: string;
  readonly from: string;
}

const typescriptIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('node_modules/')); // dependencies of bench/peers

/** Type imports count: a file that needs a type from another one cannot be understood without it. */
const importsIn = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/(?:from|import)\s*\(?'([#.][^']*)'/g)].map((match) => match[1]!);

const files = typescriptIn(SRC).filter((path) => !path.endsWith('.test.ts'));
const imports: Import[] = files.flatMap((file) => importsIn(join(SRC, file)).map((from) => ({ file, from })));

/** Including tests. */
const everything = CODE.flatMap((folder) => typescriptIn(join(ROOT, folder)).map((path) => `${folder}/${path}`));

const folderOf = (path: string): string => (path.includes('/') ? path.split('/')[0]! : '');
const roomOf = (path: string): string => path.split('/')[0]!.replace(/\.ts$/, '');
/** Within src, without its extension. */
const targetOf = ({ file, from }: Import): string =>
  from.startsWith('.') ? posix.join(posix.dirname(file), from) : from.slice(1);

test('every room of src is in the table, and the table goes upwards only', () => {
  const rooms = Object.keys(MAY_IMPORT);
  expect([...new Set(files.map(roomOf))].sort()).toEqual([...rooms].sort());
  const upwards = rooms.filter((room, floor) =>
    MAY_IMPORT[room]!.some((below) => !rooms.slice(0, floor).includes(below)),
  );
  expect(upwards).toEqual([]);
});

interface Arrow extends Import {
  readonly room: string;
  readonly below: string;
}

/** What is imported without being allowed, and what is allowed without being imported. */
function expectArrows(arrows: readonly Arrow[], allowed: Readonly<Record<string, readonly string[]>>): void {
  expect(arrows.filter(({ room, below }) => room !== below && !allowed[room]!.includes(below))).toEqual([]);
  const unused = Object.entries(allowed).flatMap(([room, rooms]) =>
    rooms
      .filter((below) => !arrows.some((arrow) => arrow.room === room && arrow.below === below))
      .map((below) => `${room} → ${below}`),
  );
  expect(unused).toEqual([]);
}

test('rooms import what the table says, and the table says only what is imported', () => {
  const arrows = imports.map((each) => ({ ...each, room: roomOf(each.file), below: roomOf(targetOf(each)) }));
  expectArrows(arrows, MAY_IMPORT);
});

/** Rooms by floor, the highest first: a room stands one floor above the highest room that it imports. */
function floorsOf(allowed: Readonly<Record<string, readonly string[]>>): string[][] {
  const floors = new Map<string, number>();
  for (const [room, below] of Object.entries(allowed))
    floors.set(room, 1 + Math.max(-1, ...below.map((other) => floors.get(other)!)));
  const height = Math.max(...floors.values());
  return Array.from({ length: height + 1 }, (_, i) =>
    [...floors].filter(([, floor]) => floor === height - i).map(([room]) => room),
  );
}

test('the picture in ARCHITECTURE.md is drawn from the imports', async () => {
  const path = join(ROOT, 'ARCHITECTURE.md');
  const width = Math.max(...Object.keys(MAY_IMPORT).map((room) => room.length));
  const draw = (room: string) => {
    const below = MAY_IMPORT[room]!;
    return below.length === 0 ? room : `${room.padEnd(width)} ─▶ ${below.join(' ')}`;
  };
  const picture = floorsOf(MAY_IMPORT)
    .map((rooms) => rooms.toSorted().map(draw).join('\n'))
    .join('\n\n');
  const text = readFileSync(path, 'utf8');
  const drawn = /(<!-- drawn from the imports.*-->\n\n```text\n)[^]*?(?=\n```)/;
  expect(text, 'the picture is gone').toMatch(drawn);
  await expect(text.replace(drawn, `$1${picture}`)).toMatchFileSnapshot(path);
});

/**
 * Inside api/: room → rooms that it may import. `http` knows no protocol, and protocols do not know each other; the two that answer
 * chat requests in another form share what chat has, and `recorded` reads the calls of all three. app.ts mounts all of them.
 */
const API_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  http: [],
  chat: ['http'],
  generate: ['chat', 'http'],
  messages: ['chat', 'http'],
  responses: ['chat', 'http'],
  artifacts: ['http'],
  episodes: ['http'],
  recorded: ['messages', 'responses'],
  training: ['http', 'recorded'],
  models: ['http', 'training'],
  tinker: ['http'],
  wandb: ['http'],
  description: ['http'],
  operating: ['description', 'http', 'models', 'training'],
};

test('inside api/, each protocol has a room of its own, and the plumbing knows none of them', () => {
  const inside = imports
    .map((each) => ({ ...each, target: targetOf(each) }))
    .filter(({ file, target }) => file.startsWith('api/') && file !== 'api/app.ts' && target.startsWith('api/'))
    .map((each) => ({ ...each, room: each.file.split('/')[1]!, below: each.target.split('/')[1]! }));
  expect([...new Set(inside.map(({ room }) => room))].sort()).toEqual(Object.keys(API_MAY_IMPORT).sort());
  expectArrows(inside, API_MAY_IMPORT);
});

test('relative imports stay inside their room', () => {
  const inFolders = imports.filter(({ file, from }) => file.includes('/') && from.startsWith('.'));
  expect(inFolders.filter((each) => roomOf(targetOf(each)) !== roomOf(each.file))).toEqual([]);
});

/** Inside engine/: folder → what it must not import, although the table of layers would allow it. */
const ENGINE_DOES_NOT_KNOW: Readonly<Record<string, readonly string[]>> = {
  'engine/onnx/graph': ['engine/onnx/models', 'engine/onnx/serving', 'engine/onnx/learning', 'engine/onnx/process'],
  'engine/onnx/models': ['engine/onnx/serving', 'engine/onnx/learning', 'engine/onnx/process'],
  'engine/onnx/serving': ['engine/onnx/learning', 'engine/onnx/process', 'engine/rpc'],
  'engine/onnx/learning': ['engine/onnx/serving', 'engine/onnx/process', 'engine/rpc'],
  'engine/onnx/process': ['engine/onnx/graph', 'engine/onnx/learning'],
  'engine/onnx': ['engine/workers'],
  'engine/workers': ['engine/onnx'],
  'engine/rpc': ['engine/onnx', 'engine/workers'],
};

test('inside engine/, serving does not import training, and callers do not import computation', () => {
  const isIn = (folder: string) => (path: string) => path.startsWith(`${folder}/`);
  const known = imports.flatMap(({ file, from }) => {
    const target = targetOf({ file, from });
    return Object.entries(ENGINE_DOES_NOT_KNOW)
      .filter(([folder, unknown]) => isIn(folder)(file) && unknown.some((other) => isIn(other)(target)))
      .map(() => ({ file, from }));
  });
  expect(known).toEqual([]);
});

test('one file outside the embedded engine knows that it exists', () => {
  const knowing = imports.filter(({ file, from }) => {
    const target = targetOf({ file, from });
    return target.startsWith('engine/onnx/') && !file.startsWith('engine/onnx/');
  });
  expect(knowing.map(({ file }) => file)).toEqual(['engine/open-backend.ts']);
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

test('one file loads ONNX Runtime, after it has restricted the library', () => {
  const loading = files.filter((file) =>
    /^(?!import type).*(?:from|import)\s*\(?'onnxruntime-|dist\/onnxruntime\//m.test(
      readFileSync(join(SRC, file), 'utf8'),
    ),
  );
  expect(loading).toEqual(['engine/onnx/graph/onnx-runtime.ts']);
});

test('no file imports itself, not even through others', () => {
  const targets = new Map(
    everything.map((file) => [
      file,
      importsIn(join(ROOT, file)).map((from) =>
        from.startsWith('#') ? `src/${from.slice(1)}.ts` : posix.join(posix.dirname(file), from),
      ),
    ]),
  );
  expect(findCycle(targets)).toBeNull();
});

test('a file that imports itself through others is found', () => {
  expect(findCycle(new Map(Object.entries({ a: ['b'], b: ['c', 'd'], c: [], d: ['b'] })))).toEqual(['b', 'd', 'b']);
  expect(findCycle(new Map(Object.entries({ a: ['b', 'c'], b: ['c'], c: [] })))).toBeNull();
});

/** The import path from a file back to itself. */
function findCycle(targets: ReadonlyMap<string, readonly string[]>): string[] | null {
  const seen = new Set<string>();
  function findFrom(starts: Iterable<string>, way: readonly string[]): string[] | null {
    for (const file of starts) {
      if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
      if (seen.has(file)) continue;
      seen.add(file);
      const cycle = findFrom(targets.get(file) ?? [], [...way, file]);
      if (cycle) return cycle;
    }
    return null;
  }
  return findFrom(targets.keys(), []);
}

test('every path and every link in ARCHITECTURE.md exists', () => {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const paths = [...text.matchAll(/`([\w.-]+(?:\/[\w.*-]+)+|[\w-]+\.(?:ts|md))`/g)].map((match) => match[1]!);
  const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map((match) => match[1]!);
  const exists = (path: string) => existsSync(join(SRC, path)) || existsSync(join(ROOT, path));
  expect(paths.length).toBeGreaterThan(30);
  expect([...paths, ...links].filter((path) => !exists(path.replace(/\/\*$/, '')))).toEqual([]);
});

test('files that comments name exist', () => {
  const ends = (path: string) => path.split('/').map((_, at, parts) => parts.slice(at).join('/'));
  const known = new Set([...everything, 'vitest.config.ts'].flatMap(ends));
  const missing = everything.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line) => [...(/(?:^|\s)(?:\/\/|\/?\*\*?)\s(.*)/.exec(line)?.[1] ?? '').matchAll(NAMED_FILE)])
      .map((match) => ({ file, named: match[1]! }))
      .filter(({ named }) => !known.has(named)),
  );
  expect(missing).toEqual([]);
});

/** A file in a sentence, with or without its folders; relative paths belong to imports. */
const NAMED_FILE = /(?<![\w/.<-])((?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.tsx?)(?![\w.])/g;

test('every decision record has a unique number, a context, a decision, and a line in the index', () => {
  const folder = join(ROOT, 'docs', 'decisions');
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  const records = readdirSync(folder).filter((name) => name !== 'README.md');
  const numbers = records.map((name) => {
    const number = Number(name.slice(0, 4));
    const text = readFileSync(join(folder, name), 'utf8');
    expect(text, name).toMatch(new RegExp(`^# ${number}\\. .*\\n\\n## Context\\n[^]*\\n## Decision\\n`));
    expect(index).toContain(`[${text.split('\n', 1)[0]!.slice(2)}](${name})`);
    return number;
  });
  expect(new Set(numbers).size).toBe(numbers.length);
});

/** The types of the API. */
const GENERATED = ['dashboard/src/api/openapi.ts'];

test('no file has more than 400 lines: a longer one has several subjects', () => {
  const long = everything
    .filter((file) => !GENERATED.includes(file))
    .map((file) => ({ file, lines: readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > 400);
  expect(long).toEqual([]);
});

/** Folder of dashboard/src → folders whose modules it may import. app.tsx, routes.tsx and shell.tsx (here '') wire the pages. */
const PAGES_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  api: [],
  ui: ['api'],
  charts: ['api', 'ui'],
  tokens: ['ui'],
  episodes: ['api', 'ui', 'tokens'],
  groups: ['api', 'ui', 'tokens', 'episodes'],
  jobs: ['api', 'ui', 'charts', 'groups'],
  evaluations: ['api', 'ui', 'groups'],
  trajectories: ['api', 'ui', 'episodes', 'groups'],
  models: ['api', 'ui', 'charts', 'episodes', 'jobs', 'evaluations'],
  runs: ['api', 'ui', 'charts'],
  home: ['api', 'ui', 'jobs', 'models'],
  data: ['api', 'ui', 'tokens', 'groups'],
  playground: ['api', 'ui', 'tokens', 'groups'],
  keys: ['api', 'ui'],
  documentation: [],
  alerts: ['api', 'ui', 'jobs'],
};
const NO_PAGES = Object.keys(PAGES_MAY_IMPORT);
/** Neither the API's calls nor tokens know addresses; of src, it uses reading streams, following jobs, the plural of nouns and the names of settings. */
const ADDRESSES = 'dashboard/src/router.ts';
const OF_SRC = ['base/counted', 'base/setting-lines', 'client/chunks', 'client/follow', 'client/sse-reader'].map(
  (name) => `src/${name}.ts`,
);

test('in the dashboard, folders import only from those below them, and pages from all', () => {
  const own = everything.filter((file) => file.startsWith('dashboard/src/') && !file.includes('.test.'));
  const inside = (path: string) => folderOf(path.replace(/^dashboard\/src\//, ''));
  expect([...new Set(own.map(inside))].sort()).toEqual(['', 'pages', ...NO_PAGES].sort());
  const crossings = own.flatMap((file) =>
    importsIn(join(ROOT, file))
      .filter((from) => !from.endsWith('.css'))
      .map((from) => ({ file, target: posix.join(posix.dirname(file), from) }))
      .filter(({ target }) => {
        const [folder, other] = [inside(file), inside(target)];
        if (OF_SRC.includes(target)) return false;
        if (!target.startsWith('dashboard/src/')) return true;
        if (folder === '' || folder === other) return false;
        if (target === ADDRESSES) return ['api', 'tokens'].includes(folder);
        return !(folder === 'pages' ? NO_PAGES : PAGES_MAY_IMPORT[folder]!).includes(other);
      }),
  );
  expect(crossings).toEqual([]);
});

test('there are imports to check', () => {
  expect(imports.length).toBeGreaterThan(100);
});
