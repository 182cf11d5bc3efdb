// Puts ONNX Runtime into dist/onnxruntime: the files of npm's onnxruntime-node that the CPU of each supported platform needs, 146 MB
// of 288. Our package carries them itself, because onnxruntime-node cannot be a dependency of it: that one's install script
// downloads GPU libraries from outside the registry (decision 36). Part of `npm run build`; does nothing where they are there.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';

const VERSION = '1.30.0'; // as onnxruntime-common in package.json
const SHA512 = 'twhs1C2C/BFkz1yc5OY0KIU2GUq6DURO7hD4bx5Q2Qy3nAMJwRXW8xU3NVczE29VA9lolLOYepoD8fjTGOfIqw==';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TARGET = join(ROOT, 'dist', 'onnxruntime');

/** What each platform loads. Left out: DirectML and WebGPU of Windows, and a second name of the same library for macOS. */
const FILES = [
  ...['index.js', 'backend.js', 'binding.js', 'version.js'].map((name) => `dist/${name}`),
  ...['linux/x64', 'linux/arm64'].flatMap((platform) => [
    `bin/napi-v6/${platform}/onnxruntime_binding.node`,
    `bin/napi-v6/${platform}/libonnxruntime.so.1`,
  ]),
  'bin/napi-v6/darwin/arm64/onnxruntime_binding.node',
  'bin/napi-v6/darwin/arm64/libonnxruntime.1.dylib',
  'bin/napi-v6/win32/x64/onnxruntime_binding.node',
  'bin/napi-v6/win32/x64/onnxruntime.dll',
];

const LICENSE = `MIT License

Copyright (c) Microsoft Corporation

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

Third parties whose work is in these libraries are named in
https://github.com/microsoft/onnxruntime/blob/v${VERSION}/ThirdPartyNotices.txt
`;

/** Written last, so it is there when everything is. */
const MANIFEST = `${JSON.stringify({ name: 'onnxruntime-node', version: VERSION, license: 'MIT', main: 'dist/index.js' }, null, 2)}\n`;

const isThere = (): boolean =>
  existsSync(join(TARGET, 'package.json')) && readFileSync(join(TARGET, 'package.json'), 'utf8') === MANIFEST;

/** npm does it, so proxies, mirrors and the cache are those of `npm ci`. */
function download(directory: string): void {
  const npm = process.env['npm_execpath'] ?? '';
  const [command, ...before] = npm.endsWith('npm-cli.js') ? [process.execPath, npm] : ['npm'];
  const flags = ['--pack-destination', directory, '--ignore-scripts', '--dry-run=false', '--global=false', '--silent'];
  const { status, stderr, error } = spawnSync(command, [...before, 'pack', `onnxruntime-node@${VERSION}`, ...flags], {
    cwd: directory,
    encoding: 'utf8',
    shell: command === 'npm' && process.platform === 'win32',
  });
  if (status !== 0)
    throw new Error(
      `onnxruntime-node@${VERSION} could not be fetched from the registry: ${error?.message ?? stderr.trim()}`,
    );
}

async function unpack(archive: string, directory: string): Promise<void> {
  const hash = createHash('sha512').update(await readFile(archive));
  if (hash.digest('base64') !== SHA512)
    throw new Error(
      `onnxruntime-node@${VERSION} is not what its version was when it was chosen: its checksum differs.`,
    );
  const wanted = new Set(FILES);
  const entries = extract();
  const unpacking = pipeline(createReadStream(archive), createGunzip(), entries);
  for await (const entry of entries) {
    const path = entry.header.name.replace(/^package\//, '');
    if (!wanted.delete(path)) {
      entry.resume();
      continue;
    }
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await pipeline(entry, createWriteStream(join(directory, path)));
  }
  await unpacking;
  if (wanted.size > 0) throw new Error(`onnxruntime-node@${VERSION} lacks ${[...wanted].join(', ')}.`);
  await writeFile(join(directory, 'LICENSE'), LICENSE);
  await writeFile(join(directory, 'package.json'), MANIFEST);
}

if (!isThere()) {
  await mkdir(join(ROOT, 'dist'), { recursive: true });
  const work = await mkdtemp(join(ROOT, 'dist', '.onnxruntime-'));
  try {
    download(work);
    const archive = (await readdir(work)).find((name) => name.endsWith('.tgz'))!;
    const unpacked = join(work, 'unpacked');
    await mkdir(unpacked);
    await unpack(join(work, archive), unpacked);
    await rm(TARGET, { recursive: true, force: true });
    await rename(unpacked, TARGET);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
