// Builds dist: the server, the dashboard, and the files of two npm packages that ours ships. Builds only what changed: each part
// keeps a hash of the files it is made from. Says what it does and how long it took, and nothing if all is up to date.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');

interface Part {
  readonly name: string;
  /** Files and directories that decide what it becomes. */
  readonly from: readonly string[];
  /** The part is built if one of them is missing. */
  readonly makes: readonly string[];
  /** Arguments of node. */
  readonly commands: readonly (readonly string[])[];
  readonly after?: () => void;
}

const NPM = 'node_modules';
const TSX = ['--import', 'tsx'];
/** Whatever a part is made from, these decide how. */
const ALWAYS = ['package.json', 'package-lock.json', 'scripts/build.ts', 'scripts/files-of-package.ts'];

const PARTS: readonly Part[] = [
  {
    name: 'files of other packages',
    from: ['scripts/onnxruntime.ts', 'scripts/api-reference.ts'],
    makes: ['dist/onnxruntime/package.json', 'dist/reference/package.json'],
    commands: [
      [...TSX, 'scripts/onnxruntime.ts'],
      [...TSX, 'scripts/api-reference.ts'],
    ],
  },
  {
    name: 'server',
    from: ['src', 'tsconfig.json', 'tsconfig.build.json'],
    makes: ['dist/cli.js', 'dist/main.js'],
    commands: [[`${NPM}/typescript-7/bin/tsc`, '-p', 'tsconfig.build.json']], // decision 69
    after: () => {
      copyData();
      deleteOutputsWithoutSource();
    },
  },
  {
    name: 'types of the API for the dashboard',
    from: ['docs/openapi.json', 'scripts/dashboard-types.ts'],
    makes: ['dashboard/src/api/openapi.ts'],
    commands: [[...TSX, 'scripts/dashboard-types.ts']],
  },
  {
    name: 'dashboard',
    from: ['dashboard', 'src/client', 'docs'],
    makes: ['dist/dashboard/index.html'],
    commands: [
      [`${NPM}/vite/bin/vite.js`, 'build', 'dashboard', '--config', 'dashboard/vite.config.ts', '--logLevel', 'warn'],
    ],
  },
];

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

/** Tests are no part of what is built. */
function hashOf(paths: readonly string[]): string {
  const hash = createHash('sha256').update(process.version);
  for (const file of paths.flatMap((path) => filesIn(join(ROOT, path)))) {
    if (/\.test\.tsx?$/.test(file)) continue;
    hash.update(`\0${relative(ROOT, file)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** Files that the server reads as they are: the compiler leaves them out. */
const DATA = /\.(graphql|json)$/;

function copyData(): void {
  const files = filesIn(join(ROOT, 'src')).filter((file) => DATA.test(file));
  for (const file of files) cpSync(file, join(DIST, relative(join(ROOT, 'src'), file)));
}

/** What sources left behind that were moved or deleted: it would be part of the package. */
function deleteOutputsWithoutSource(): void {
  const others = new Set(['dashboard', 'onnxruntime', 'reference']);
  for (const path of filesIn(DIST).map((file) => relative(DIST, file))) {
    const source = join('src', DATA.test(path) ? path : path.replace(/(?:\.d)?\.(?:ts|js)(?:\.map)?$/, '.ts'));
    if (!others.has(folderOf(path)) && !existsSync(join(ROOT, source))) rmSync(join(DIST, path));
  }
}

const folderOf = (path: string): string => path.split(sep)[0]!;

/** Beside dist, which is packed whole. */
const STAMPS = join(ROOT, '.cache/built.json');

function build({ name, commands, after }: Part): void {
  process.stderr.write(`Building: ${name} … `);
  const began = performance.now();
  for (const command of commands) {
    const { status, stdout } = spawnSync(process.execPath, command, {
      cwd: ROOT,
      stdio: ['inherit', 'pipe', 'inherit'],
    });
    if (status === 0) continue;
    process.stderr.write(`failed.\n${stdout.toString()}`);
    process.exit(status ?? 1);
  }
  after?.();
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(1)} s\n`);
}

mkdirSync(DIST, { recursive: true });
mkdirSync(dirname(STAMPS), { recursive: true });
const built = existsSync(STAMPS) ? (JSON.parse(readFileSync(STAMPS, 'utf8')) as Record<string, string>) : {};
for (const part of PARTS) {
  const hash = hashOf([...ALWAYS, ...part.from]);
  if (built[part.name] === hash && part.makes.every((path) => existsSync(join(ROOT, path)))) continue;
  build(part);
  built[part.name] = hash;
  writeFileSync(STAMPS, JSON.stringify(built));
}
