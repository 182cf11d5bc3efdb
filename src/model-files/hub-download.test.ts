// Downloads that break, resume, and are refused. The Hub is test/support/a-hub.ts.
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { COMMIT, openHub, sha256, type OpenHub } from '../../test/support/a-hub.ts';
import { downloadModel, type HubAccess } from './hub-download.ts';
import type { HubModel } from './hub-model.ts';

const WEIGHTS = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i % 251));
const CONFIG = Buffer.from(
  '{"model_type":"llama","hidden_size":8,"num_hidden_layers":1,"num_attention_heads":1,"intermediate_size":8,"vocab_size":8,"max_position_embeddings":8,"rms_norm_eps":1e-6}',
);
/** Bytes present before the weights. */
const OTHER_FILES = CONFIG.length + 2;
const MODEL: HubModel = { id: 'owner/tiny', revision: 'main', tag: null };

let root: string;
let opened: OpenHub;
/** The bytes of the whole model that were present, at each progress report. */
let shown: number[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hub-download-'));
  shown = [];
  opened = await openHub({
    'config.json': CONFIG,
    'tokenizer.json': Buffer.from('{}'),
    'model.safetensors': WEIGHTS,
  });
});
afterEach(async () => {
  await opened.close();
  await rm(root, { recursive: true });
});

const cacheDirectory = () => join(root, 'hub');
const blob = () => join(cacheDirectory(), 'models--owner--tiny', 'blobs', sha256(WEIGHTS));

/** The snapshot directory. */
async function download(
  changes: Partial<HubAccess> = {},
  model = MODEL,
  signal = new AbortController().signal,
  onHeld = () => opened.hub.breakLines(),
): Promise<string> {
  const hub = {
    cacheDirectory: cacheDirectory(),
    endpoint: opened.url,
    token: null,
    tokenPath: join(root, 'token'),
    offline: false,
    ...changes,
  };
  const progress = {
    onBytes(_: string, done: number) {
      shown.push(done);
      if (done === OTHER_FILES + (opened.hub.heldAt ?? NaN)) onHeld();
    },
    onEnd: () => undefined,
  };
  const ggufDirectory = join(root, 'gguf');
  const options = { hub, parts: 'everything', ggufDirectory, progress, log: silentLog, signal } as const;
  return (await downloadModel(model, options)).directory;
}

const weightsIn = (snapshot: string) => readFile(join(snapshot, 'model.safetensors'));

test('a broken download is resumed for the missing bytes, as long as bytes arrive', async () => {
  opened.hub.breaks['model.safetensors'] = [70_000, 30_000, 20_000, 10_000, 5_000];
  expect((await weightsIn(await download())).equals(WEIGHTS)).toBe(true);
  expect(opened.hub.ranges).toEqual([70_000, 100_000, 120_000, 130_000, 135_000].map((from) => `bytes=${from}-`));
  expect(shown.at(-1)).toBe(OTHER_FILES + WEIGHTS.length);
  expect(shown).toEqual([...shown].sort((a, b) => a - b));
});

test('all chat templates are downloaded, and added_tokens.json; other files of their folders are not', async () => {
  const more = 'additional_chat_templates';
  for (const name of ['chat_template.jinja', `${more}/rag.jinja`, `${more}/x.txt`, 'added_tokens.json', 'vocab.json'])
    opened.hub.files[name] = Buffer.from(name);
  const directory = await download();
  expect(await readFile(join(directory, more, 'rag.jinja'), 'utf8')).toBe(`${more}/rag.jinja`);
  const found = await readdir(directory, { recursive: true });
  expect(found).toEqual(expect.arrayContaining(['chat_template.jinja', 'added_tokens.json']));
  expect(found.filter((name) => /txt|vocab/.test(name))).toEqual([]);
});

test('after a restart a download continues where it stopped', async () => {
  const stopping = new AbortController();
  opened.hub.breaks['model.safetensors'] = [120_000];
  const first = download({}, MODEL, stopping.signal, () => stopping.abort());
  await expect(first).rejects.toMatchObject({ code: 'cancelled' });
  expect((await weightsIn(await download())).equals(WEIGHTS)).toBe(true);
  expect(opened.hub.ranges).toEqual(['bytes=120000-']);
});

test.each([
  ['a server that was killed', () => `${blob()}.${hostname()}.999999999.1.incomplete`],
  ['an earlier life of this process id', () => `${blob()}.${hostname()}.${process.pid}.1000000.incomplete`],
  ['a server that gave up', () => `${blob()}.whetstone.incomplete`],
])('a download resumes with what %s left', async (_, partial) => {
  await mkdir(dirname(blob()), { recursive: true });
  await writeFile(partial(), WEIGHTS.subarray(0, 150_000));
  expect((await weightsIn(await download())).equals(WEIGHTS)).toBe(true);
  expect(opened.hub.ranges).toEqual(['bytes=150000-']);
  expect(await readdir(dirname(blob()))).toHaveLength(3);
});

test('a file that another process is writing is left to that process', async () => {
  await mkdir(dirname(blob()), { recursive: true });
  const others = `${blob()}.another-host.1.1.incomplete`;
  await writeFile(others, WEIGHTS.subarray(0, 150_000));
  await download();
  expect(opened.hub.ranges).toEqual([]);
  expect(await readFile(others)).toHaveLength(150_000);
});

test('a partial file that is damaged is found out at the end, and the file is fetched from its start', async () => {
  await mkdir(dirname(blob()), { recursive: true });
  await writeFile(`${blob()}.whetstone.incomplete`, Buffer.alloc(150_000));
  expect((await weightsIn(await download())).equals(WEIGHTS)).toBe(true);
  expect(opened.hub.ranges).toEqual(['bytes=150000-']);
});

test('a Hub that knows no ranges sends the file again', async () => {
  opened.hub.knowsRanges = false;
  opened.hub.breaks['model.safetensors'] = [70_000];
  expect((await weightsIn(await download())).equals(WEIGHTS)).toBe(true);
});

test('two downloads of one model at once both end well', async () => {
  const [a, b] = await Promise.all([download(), download()]);
  expect(a).toBe(b);
  expect((await weightsIn(a)).equals(WEIGHTS)).toBe(true);
});

test('a connection that brings nothing more ends the download, and the bytes so far are kept for the next one', async () => {
  opened.hub.breaks['model.safetensors'] = [70_000, 0, 0, 0];
  await expect(download()).rejects.toMatchObject({
    message: expect.stringMatching(/^Cannot get model owner\/tiny\. .*failed: .+\.$/) as string,
  });
  expect(await readFile(`${blob()}.whetstone.incomplete`)).toHaveLength(70_000);
  await download();
  expect(opened.hub.ranges.at(-1)).toBe('bytes=70000-');
});

test('a model that the disk has no room for is refused before a byte of it', async () => {
  opened.hub.lies['model.safetensors'] = { size: 1e18, lfs: undefined };
  await expect(download()).rejects.toMatchObject({
    message: expect.stringMatching(
      /needs 1000000000\.0 GB more on the disk of .*has .* GB free.*HF_HUB_CACHE/,
    ) as string,
  });
  expect(opened.hub.requests.some((url) => url.includes('/resolve/'))).toBe(false);
});

test('a cache that may not be written says so', async () => {
  await writeFile(join(root, 'file'), '');
  await rename(join(root, 'file'), cacheDirectory());
  await expect(download()).rejects.toMatchObject({
    message: expect.stringMatching(
      /^Cannot store model owner\/tiny in .*hub: it is not a directory\. .*HF_HUB_CACHE/,
    ) as string,
  });
});

test.each([
  ['revision', 401, 'RepoNotFound', /\(status 401\): it does not exist, or is private or gated\. Set HF_TOKEN/],
  ['revision', 404, 'RepoNotFound', /^No model owner\/tiny\. /],
  ['resolve', 403, 'GatedRepo', /it is gated\. Accept its terms at .*\/owner\/tiny\. Set HF_TOKEN/],
  ['resolve', 401, 'GatedRepo', /it is gated\. Accept its terms at/],
] as const)(
  'the error for %s with status %i and %s is one sentence with what to do',
  async (at, status, code, message) => {
    opened.hub.refusals[at] = { status, code };
    await expect(download()).rejects.toMatchObject({
      code: 'base_model_not_found',
      message: expect.stringMatching(message) as string,
    });
  },
);

test('the token that a login has left is sent; HF_TOKEN goes before it', async () => {
  opened.hub.requiredToken = 'hf_file';
  await writeFile(join(root, 'token'), 'hf_file\n');
  await expect(download({ token: 'hf_other' })).rejects.toMatchObject({
    message: expect.stringContaining('The token that was sent has no access to it') as string,
  });
  await download();
});

test('a revision has a ref of its own; a missing revision is named in the error', async () => {
  opened.hub.revisions = ['main', 'refs/pr/1'];
  const snapshot = await download({}, { ...MODEL, revision: 'refs/pr/1' });
  expect(await readFile(join(snapshot, '..', '..', 'refs', 'refs', 'pr', '1'), 'utf8')).toBe(COMMIT);
  await expect(download({}, { ...MODEL, revision: 'v9' })).rejects.toMatchObject({
    message: expect.stringMatching(/^Model owner\/tiny has no revision v9 at /) as string,
  });
});
