// Copies some files of an npm package into a directory of dist that our package ships: for packages that cannot be dependencies, or that
// bring far more than is used (decisions 36 and 43). Does nothing if the files are there.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';

export interface WantedFiles {
  readonly name: string;
  readonly version: string;
  /** Integrity hash of the archive in base64, as of when the version was chosen. */
  readonly sha512: string;
  readonly files: readonly string[];
  /** The holder of its MIT licence. */
  readonly copyright: string;
  /** Where the licences of the bundled code are named. */
  readonly thirdParties: string;
  /** What an `import` of the directory loads, if it is imported. */
  readonly main?: string;
  /** Under dist. */
  readonly directory: string;
}

const DIST = fileURLToPath(new URL('../dist', import.meta.url));

const license = ({ copyright, thirdParties }: WantedFiles) => `MIT License

${copyright}

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.

${thirdParties}
`;

/** Written last, so it exists once everything does. */
const manifest = ({ name, version, main }: WantedFiles) =>
  `${JSON.stringify({ name, version, license: 'MIT', main }, null, 2)}\n`;

/** Fetched by npm, so that proxies, mirrors and the cache are those of `npm ci`. */
function download({ name, version }: WantedFiles, directory: string): void {
  const npm = process.env['npm_execpath'] ?? '';
  const [command, ...before] = npm.endsWith('npm-cli.js') ? [process.execPath, npm] : ['npm'];
  const flags = ['--pack-destination', directory, '--ignore-scripts', '--dry-run=false', '--global=false', '--silent'];
  const { status, stderr, error } = spawnSync(command, [...before, 'pack', `${name}@${version}`, ...flags], {
    cwd: directory,
    encoding: 'utf8',
    shell: command === 'npm' && process.platform === 'win32',
  });
  if (status !== 0)
    throw new Error(`${name}@${version} could not be fetched from the registry: ${error?.message ?? stderr.trim()}`);
}

async function unpack(wanted: WantedFiles, archive: string, directory: string): Promise<void> {
  const { name, version, sha512 } = wanted;
  const hash = createHash('sha512').update(await readFile(archive));
  if (hash.digest('base64') !== sha512)
    throw new Error(`${name}@${version} is not what its version was when it was chosen: its checksum differs.`);
  const missing = new Set(wanted.files);
  const entries = extract();
  const unpacking = pipeline(createReadStream(archive), createGunzip(), entries);
  for await (const entry of entries) {
    const path = entry.header.name.replace(/^package\//, '');
    if (!missing.delete(path)) {
      entry.resume();
      continue;
    }
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await pipeline(entry, createWriteStream(join(directory, path)));
  }
  await unpacking;
  if (missing.size > 0) throw new Error(`${name}@${version} lacks ${[...missing].join(', ')}.`);
  await writeFile(join(directory, 'LICENSE'), license(wanted));
  await writeFile(join(directory, 'package.json'), manifest(wanted));
}

export async function keepFilesOfPackage(wanted: WantedFiles): Promise<void> {
  const target = join(DIST, wanted.directory);
  const manifestPath = join(target, 'package.json');
  if (existsSync(manifestPath) && readFileSync(manifestPath, 'utf8') === manifest(wanted)) return;
  await mkdir(DIST, { recursive: true });
  const work = await mkdtemp(join(DIST, `.${wanted.directory}-`));
  try {
    download(wanted, work);
    const archive = (await readdir(work)).find((name) => name.endsWith('.tgz'))!;
    const unpacked = join(work, 'unpacked');
    await mkdir(unpacked);
    await unpack(wanted, join(work, archive), unpacked);
    await rm(target, { recursive: true, force: true });
    await rename(unpacked, target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
