// GGUF models of a Hub: which file a name selects, what is requested from the Hub, and what is refused. The Hub is test/support/a-hub.ts;
// the files are the starter's as `checkpoints export` writes them.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import { COMMIT, openHub, type OpenHub } from '../../test/support/a-hub.ts';
import { resolveOptions } from '../../test/support/resolve-options.ts';
import { exportGgufModel } from './gguf/export-gguf.ts';
import { ggmlTypeNumber } from './gguf/ggml-types.ts';
import { makeGgufDirectory } from './gguf/gguf-model.ts';
import { resolveModelDirectory, type ResolveModelOptions } from './resolve-model.ts';

let scratch: string;
/** The starter in Q8_0. */
let gguf: Buffer;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'hub-gguf-'));
  const out = join(scratch, 'starter.gguf');
  await exportGgufModel({ base: STARTER_DIRECTORY, adapter: null, out, name: 'starter' }, 'Q8_0');
  gguf = await readFile(out);
});
afterAll(() => rm(scratch, { recursive: true }));

const NONE = Buffer.from('');
let root: string;
let opened: OpenHub;
let options: ResolveModelOptions;
let shown: string[];
beforeEach(async () => {
  root = await mkdtemp(join(scratch, 'test-'));
  opened = await openHub({
    'README.md': NONE,
    'imatrix.gguf': NONE,
    'mmproj-tiny-Q8_0.gguf': NONE,
    'tiny-IQ4_XS.gguf': withType(gguf, 'blk.0.attn_q.weight', 23),
    'tiny-Q4_0.gguf': gguf,
    'tiny-q8_0.gguf': gguf,
  });
  shown = [];
  options = resolveOptions(
    { starterDirectory: STARTER_DIRECTORY, ggufDirectory: join(root, 'gguf'), hubHome: root, hubUrl: opened.url },
    shown,
  );
});
afterEach(() => opened.close());

const snapshot = () => join(root, 'hub', 'models--owner--tiny', 'snapshots', COMMIT);
const resolve = (name: string, changes: Partial<ResolveModelOptions> = {}) =>
  resolveModelDirectory(name, { ...options, ...changes });
const offline = () => ({ hub: { ...options.hub, offline: true } });
const refusal = (code: string, message: RegExp) => ({ code, message: expect.stringMatching(message) as string });

/** The file with the ggml type of one tensor replaced. */
function withType(file: Buffer, tensor: string, type: number): Buffer {
  const changed = Buffer.from(file);
  const name = changed.indexOf(tensor) + tensor.length;
  const at = name + 4 + 8 * changed.readUInt32LE(name);
  expect(changed.readUInt32LE(at)).toBe(ggmlTypeNumber('Q8_0'));
  changed.writeUInt32LE(type, at);
  return changed;
}

test('a tag names a file, in either case; it comes into the Hub’s own cache and is the model that the file is here', async () => {
  const resolved = await resolve('owner/tiny:Q8_0');
  expect(resolved.id).toBe('owner/tiny:Q8_0');
  expect(await readdir(snapshot())).toEqual(['tiny-q8_0.gguf']);
  const file = join(snapshot(), 'tiny-q8_0.gguf');
  expect((await readFile(file)).equals(gguf)).toBe(true);
  expect(await makeGgufDirectory(file, options.ggufDirectory)).toBe(resolved.directory);
  expect(await readFile(join(root, 'hub', 'models--owner--tiny', 'refs', 'main'), 'utf8')).toBe(COMMIT);
  expect(shown.slice(-2)).toEqual([`owner/tiny:Q8_0 ${gguf.length} of ${gguf.length}`, 'owner/tiny:Q8_0 ended']);

  opened.hub.requests = [];
  expect(await resolve('owner/tiny:q8_0', offline())).toEqual(resolved);
  expect(await resolve('owner/tiny', offline())).toEqual(resolved);
  expect(opened.hub.requests).toEqual([]);
});

test('a revision follows the tag', async () => {
  opened.hub.revisions.push('v2');
  const resolved = await resolve('owner/tiny:Q4_0@v2');
  expect(resolved.id).toBe('owner/tiny:Q4_0');
  expect(await resolve(`owner/tiny:Q4_0@${COMMIT}`, offline())).toEqual(resolved);
  await expect(resolve('owner/tiny:Q4_0@v3')).rejects.toMatchObject(
    refusal('base_model_not_found', /^Model owner\/tiny has no revision v3 at /),
  );
});

test('a file can be named in full, also in a folder, and next to weights in safetensors', async () => {
  opened.hub.files = { 'a/b.gguf': gguf, 'b.gguf': gguf, 'model.safetensors': NONE, 'config.json': NONE };
  expect(await resolve('owner/tiny:a/b')).toMatchObject({ id: 'owner/tiny:a/b.gguf' });
  expect(await readdir(join(snapshot(), 'a'))).toEqual(['b.gguf']);
  expect(await resolve('owner/tiny:b.gguf')).toMatchObject({ id: 'owner/tiny:b.gguf' });
});

test.each([
  [['a-IQ4_XS', 'a-Q4_0', 'a-Q4_K_M', 'a-Q8_0'], 'Q4_K_M'],
  [['a-F16', 'a-IQ4_XS', 'a-Q8_0'], 'Q8_0'],
  [['a-IQ1_S', 'a-Q2_K', 'a-Q5_K_S', 'a-Q6_K'], 'Q5_K_S'],
  [['Q8_0/a-Q8_0-00001-of-00002', 'Q8_0/a-Q8_0-00002-of-00002', 'a-Q6_K'], 'Q6_K'],
  [['a-UD-Q4_K_XL', 'mtp-a-Q4_K_M'], 'UD-Q4_K_XL'],
  [['a-fp16', 'a-IQ2_M'], 'FP16'],
])('of %j the default is %s', async (names, tag) => {
  opened.hub.files = Object.fromEntries(names.map((name) => [`${name}.gguf`, gguf]));
  expect(await resolve('owner/tiny')).toMatchObject({ id: `owner/tiny:${tag}` });
});

test('a single file whose name contains no type is the repository’s model', async () => {
  opened.hub.files = { 'model.gguf': gguf };
  expect(await resolve('owner/tiny')).toMatchObject({ id: 'owner/tiny' });
});

test('Q4_K_XL also selects UD-Q4_K_XL if there is no other', async () => {
  opened.hub.files = { 'a-UD-Q4_K_XL.gguf': gguf };
  expect(await resolve('owner/tiny:q4_k_xl')).toMatchObject({ id: 'owner/tiny:UD-Q4_K_XL' });
});

test.each([
  [
    ['a-IQ4_XS.gguf', 'a-Q4_0.gguf', 'mmproj-a.gguf'],
    ':Q5_K_M',
    'base_model_not_found',
    /^owner\/tiny has no GGUF file Q5_K_M\. It has IQ4_XS, Q4_0\.$/,
  ],
  [['model.safetensors'], ':Q8_0', 'base_model_not_found', /^owner\/tiny has no GGUF file\. Leave out :Q8_0\.$/],
  [['mmproj-a.gguf'], '', 'bad_model_files', /^owner\/tiny is an auxiliary GGUF file/],
  [
    ['a-Q8_0.gguf', 'b-Q8_0.gguf'],
    ':Q8_0',
    'bad_model_files',
    /several matching GGUF files\. Choose one of them: owner\/tiny:a-Q8_0\.gguf, owner\/tiny:b-Q8_0\.gguf\.$/,
  ],
  [
    ['a-Q8_0-00001-of-00003.gguf', 'a-Q8_0-00002-of-00003.gguf', 'a-Q8_0-00003-of-00003.gguf', 'a-Q4_0.gguf'],
    ':Q8_0',
    'bad_model_files',
    /^a-Q8_0-00001-of-00003\.gguf of owner\/tiny is the first of 3 parts, .*llama-gguf-split --merge.*Supported files of owner\/tiny: Q4_0\.$/,
  ],
])('of a repository with %j, owner/tiny%s is refused, and no file is asked for', async (names, tag, code, message) => {
  opened.hub.files = Object.fromEntries(names.map((name) => [name, NONE]));
  await expect(resolve(`owner/tiny${tag}`)).rejects.toMatchObject(refusal(code, message));
  expect(opened.hub.requests.some((url) => url.includes('/resolve/'))).toBe(false);
});

test('a file with an unsupported type is refused after reading its header, with the tags that can be read', async () => {
  await expect(resolve('owner/tiny:IQ4_XS')).rejects.toMatchObject(
    refusal(
      'bad_model_files',
      /^Cannot read tiny-IQ4_XS\.gguf of owner\/tiny: tensor blk\.0\.attn_q\.weight has the type IQ4_XS, .* supported are F32.*\. Supported files of owner\/tiny: Q4_0, Q8_0\.$/,
    ),
  );
  expect(opened.hub.ranges).toEqual([`bytes=0-${gguf.length - 1}`]);
  expect(await readdir(root)).toEqual([]);
});

test('offline and not in the cache, the error names the file that was wanted', async () => {
  await resolve('owner/tiny:Q4_0');
  await expect(resolve('owner/tiny:Q8_0', offline())).rejects.toMatchObject(
    refusal('base_model_not_found', /^Model owner\/tiny:Q8_0 is not complete in the cache .*HF_HUB_OFFLINE is set/),
  );
});

test('a model that runs elsewhere is identified by the header of its file: the weights stay on the Hub', async () => {
  // A file in several parts.
  opened.hub.files['tiny-q8_0.gguf'] = Buffer.concat([gguf, Buffer.alloc(20_000_000)]);
  opened.hub.breaks['tiny-q8_0.gguf'] = [1000, 0];
  const breaking = setInterval(() => opened.hub.breakLines(), 50);
  const there = await resolve('owner/tiny:Q8_0', { parts: 'without weights' }).finally(() => clearInterval(breaking));
  expect(opened.hub.ranges.at(-1)).toBe(`bytes=${3 * 2 ** 22}-${2 ** 24 - 1}`);
  await expect(readdir(join(root, 'hub'))).rejects.toThrow('ENOENT');
  const here = await resolve('owner/tiny:Q8_0');
  for (const name of ['config.json', 'tokenizer.json'])
    expect(await readFile(join(there.directory, name))).toEqual(await readFile(join(here.directory, name)));
});

test('a Hub without range requests is read from the start', async () => {
  opened.hub.knowsRanges = false;
  expect(await resolve('owner/tiny:Q4_0', { parts: 'without weights' })).toMatchObject({ id: 'owner/tiny:Q4_0' });
});

test('a link in the cache whose blob was deleted does not count as a file', async () => {
  await resolve('owner/tiny:Q8_0');
  const blobs = join(root, 'hub', 'models--owner--tiny', 'blobs');
  for (const name of await readdir(blobs)) await rm(join(blobs, name));
  await expect(resolve('owner/tiny:Q8_0', offline())).rejects.toMatchObject(
    refusal('base_model_not_found', /not complete in the cache/),
  );
  await resolve('owner/tiny:Q8_0');
});

test.each(['owner/tiny:', 'owner/tiny:../x', 'owner/tiny:Q8_0:Q4_0', 'owner/tiny@main:Q8_0', 'owner/tiny/a.gguf'])(
  '%s names no model, and nobody is asked',
  async (name) => {
    await expect(resolve(name)).rejects.toMatchObject(refusal('base_model_not_found', /owner\/name:Q8_0/));
    expect(opened.hub.requests).toEqual([]);
  },
);

test('a file here goes before the Hub', async () => {
  const path = join(root, 'tiny-Q8_0.gguf');
  await writeFile(path, gguf);
  expect(await resolve(path)).toMatchObject({ id: 'tiny-Q8_0' });
  expect(opened.hub.requests).toEqual([]);
});
