// What `--model` may name, and what is downloaded from a Hub (test/support/a-hub.ts).
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { COMMIT, openHub, sha256, type Hub } from '../../test/support/a-hub.ts';
import { resolveOptions } from '../../test/support/resolve-options.ts';
import { joinInside, parseHubFile } from './hub-file.ts';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import { readDecoderConfig } from './decoder-config.ts';
import { exportGgufModel } from './gguf/export-gguf.ts';
import { resolveModelDirectory, type ResolveModelOptions } from './resolve-model.ts';

const CONFIG = JSON.stringify({
  model_type: 'qwen3',
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  intermediate_size: 48,
  vocab_size: 260,
  max_position_embeddings: 64,
  rms_norm_eps: 1e-6,
});

let root: string;
let hub: Hub;
let closeHub: () => Promise<void>;
let options: ResolveModelOptions;
/** The progress that was shown. */
let shown: string[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'resolve-model-'));
  const opened = await openHub({
    'config.json': Buffer.from(CONFIG),
    'tokenizer.json': Buffer.from('{}'),
    'tokenizer_config.json': Buffer.from('{}'),
    'model.safetensors': Buffer.alloc(200_000, 7),
    'pytorch_model.bin': Buffer.from('not wanted'),
    'README.md': Buffer.from('not wanted'),
  });
  hub = opened.hub;
  closeHub = opened.close;
  shown = [];
  options = resolveOptions(
    {
      starterDirectory: join(root, 'starter'),
      ggufDirectory: join(root, 'gguf'),
      hubHome: join(root, 'hf'),
      hubUrl: opened.url,
    },
    shown,
  );
});
afterEach(async () => {
  await closeHub();
  await rm(root, { recursive: true });
});

const withHub = (changes: Partial<ResolveModelOptions['hub']>): ResolveModelOptions => ({
  ...options,
  hub: { ...options.hub, ...changes },
});
const NO_NETWORK = { endpoint: 'http://127.0.0.1:1' };

async function writeModel(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'config.json'), CONFIG);
  for (const name of ['tokenizer.json', 'model.safetensors']) await writeFile(join(directory, name), '{}');
  return directory;
}

const rejection = (message: RegExp, code = 'base_model_not_found') => ({
  code,
  message: expect.stringMatching(message) as string,
});

test('the starter model goes by two names', async () => {
  const directory = await writeModel(options.starterDirectory);
  expect(await resolveModelDirectory('starter', options)).toEqual({ id: 'whetstone/starter', directory });
  expect(await resolveModelDirectory('whetstone/starter', options)).toEqual({ id: 'whetstone/starter', directory });
});

test('a directory, here below ~/, is used in place and named by its last part', async () => {
  const given = `~/${relative(homedir(), await writeModel(join(root, 'models', 'mine')))}`;
  expect(await resolveModelDirectory(given, options)).toEqual({ id: 'mine', directory: join(root, 'models', 'mine') });
});

test('a directory without weights is refused with a list of the files that a model needs', async () => {
  const directory = await writeModel(join(root, 'half'));
  await rm(join(directory, 'model.safetensors'));
  await expect(resolveModelDirectory(directory, options)).rejects.toMatchObject(
    rejection(/half is not a complete model: .*model\.safetensors/, 'bad_model_files'),
  );
});

test('a Hub id is downloaded once, in the layout of the Hub’s own cache, and only the files that matter', async () => {
  const resolved = await resolveModelDirectory('owner/tiny', options);
  const folder = join(root, 'hf', 'hub', 'models--owner--tiny');
  expect(resolved).toEqual({ id: 'owner/tiny', directory: join(folder, 'snapshots', COMMIT) });
  expect((await readdir(resolved.directory)).sort()).toEqual([
    'config.json',
    'model.safetensors',
    'tokenizer.json',
    'tokenizer_config.json',
  ]);
  expect(await readFile(join(folder, 'refs', 'main'), 'utf8')).toBe(COMMIT);
  expect(await readlink(join(resolved.directory, 'model.safetensors'))).toBe(
    `../../blobs/${sha256(hub.files['model.safetensors']!)}`,
  );
  expect((await readFile(join(resolved.directory, 'model.safetensors'))).equals(hub.files['model.safetensors']!)).toBe(
    true,
  );

  hub.requests = [];
  expect(await resolveModelDirectory('owner/tiny', options)).toEqual(resolved);
  expect(hub.requests).toEqual([]);
});

test('in a cache shared by a group, downloads are readable by the group, whatever the umask', async () => {
  const cache = join(root, 'hf', 'hub');
  await mkdir(cache, { recursive: true });
  await chmod(cache, 0o750);
  const before = process.umask(0o077);
  try {
    const { directory } = await resolveModelDirectory('owner/tiny', options);
    const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    expect(await modeOf(directory)).toBe('750');
    expect(await modeOf(join(directory, 'model.safetensors'))).toBe('640');
    expect(await modeOf(join(cache, 'models--owner--tiny', 'refs', 'main'))).toBe('640');
  } finally {
    process.umask(before);
  }
});

test('a cached model works without a network', async () => {
  const resolved = await resolveModelDirectory('owner/tiny', options);
  expect(await resolveModelDirectory('owner/tiny', withHub(NO_NETWORK))).toEqual(resolved);
});

test('an interrupted download continues with the missing files', async () => {
  hub.sent['tokenizer.json'] = Buffer.alloc(0);
  hub.sent['model.safetensors'] = hub.files['model.safetensors']!.subarray(0, 100_000);
  await expect(resolveModelDirectory('owner/tiny', options)).rejects.toMatchObject(rejection(/failed/));
  hub.sent = {};
  hub.requests = [];
  const { directory } = await resolveModelDirectory('owner/tiny', options);
  expect(hub.requests.some((url) => url.endsWith('/config.json'))).toBe(false);
  expect((await readFile(join(directory, 'model.safetensors'))).length).toBe(200_000);
});

test.each([
  ['cut short', (bytes: Buffer) => bytes.subarray(0, 1000), /ended after 1000 of 200000 bytes/],
  ['changed on the way', (bytes: Buffer) => Buffer.alloc(bytes.length, 8), /model\.safetensors arrived damaged/],
])('weights that were %s never become a model', async (_, damage, message) => {
  hub.sent['model.safetensors'] = damage(hub.files['model.safetensors']!);
  await expect(resolveModelDirectory('owner/tiny', options)).rejects.toMatchObject(rejection(message));
  const blobs = await readdir(join(root, 'hf', 'hub', 'models--owner--tiny', 'blobs'));
  expect(blobs).not.toContain(sha256(hub.files['model.safetensors']!));
});

test('a tokenizer that was changed in transit never becomes a model', async () => {
  hub.sent['tokenizer.json'] = Buffer.from('[]');
  await expect(resolveModelDirectory('owner/tiny', options)).rejects.toMatchObject(
    rejection(/tokenizer\.json arrived damaged/),
  );
});

const OUTSIDE = '../../../../outside';
const lie = (name: string, about: object) => () => void (hub.lies[name] = about);
test.each([
  [
    'a Git hash that is a path',
    lie('config.json', { oid: OUTSIDE }),
    /config\.json the hash "\.\.\/.*which is not a hash/,
  ],
  [
    'an LFS hash that is a path',
    lie('model.safetensors', { lfs: { oid: OUTSIDE, size: 200_000 } }),
    /which is not a hash/,
  ],
  ['an absolute path for a hash', lie('config.json', { oid: '/tmp/outside' }), /which is not a hash/],
  ['no hash', lie('config.json', { oid: undefined }), /which is not a hash/],
  ['a commit that is a path', () => void (hub.commit = OUTSIDE), /names the commit "\.\.\/.*which is not a hash/],
])('a Hub that returns %s is refused, and nothing is written', async (_, tell, message) => {
  tell();
  await expect(resolveModelDirectory('owner/tiny', options)).rejects.toMatchObject(rejection(message));
  expect(await readdir(root)).toEqual([]);
});

test.each(['../config.json', '/config.json', 'a/../config.json', 'a\\config.json', 'C:config.json', './x', 'a//b', ''])(
  'a Hub that lists %j is refused',
  (path) => {
    const file = { type: 'file' as const, path, size: 1, oid: COMMIT };
    expect(() => parseHubFile(file)).toThrow('which is not a path inside a model');
  },
);

test('a joined path that leaves the directory is an error', () => {
  expect(joinInside('/cache', 'blobs', COMMIT)).toBe(join('/cache', 'blobs', COMMIT));
  for (const name of ['..', '../x', '.', '../cache/../x'])
    expect(() => joinInside('/cache', name)).toThrow('not inside');
});

test('offline and not cached, the error names the cache, the Hub and the reason', async () => {
  const offline = withHub(NO_NETWORK);
  const message =
    /Cannot get model owner\/tiny\. .*not complete in the cache .*hf.hub, and downloading it from http:\/\/127\.0\.0\.1:1 failed: .+/;
  await expect(resolveModelDirectory('owner/tiny', offline)).rejects.toMatchObject(rejection(message));
});

test('a model that the Hub does not know is not found', async () => {
  await expect(resolveModelDirectory('owner/other', options)).rejects.toMatchObject(
    rejection(/No model owner\/other\. .*it does not exist at /),
  );
});

test('a gated model asks for a token, and is downloaded with it', async () => {
  hub.requiredToken = 'hf_secret';
  await expect(resolveModelDirectory('owner/tiny', options)).rejects.toMatchObject(rejection(/Set HF_TOKEN/));
  expect(await resolveModelDirectory('owner/tiny', withHub({ token: 'hf_secret' }))).toMatchObject({
    id: 'owner/tiny',
  });
});

test('an abort ends the download', async () => {
  await expect(resolveModelDirectory('owner/tiny', { ...options, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'cancelled',
  });
});

test('a name that is neither a directory nor a Hub id is refused without asking anyone', async () => {
  await expect(resolveModelDirectory('nonsense', options)).rejects.toMatchObject(
    rejection(/no such directory, and it is not a Hub id/),
  );
  expect(hub.requests).toEqual([]);
});

test('a model that runs elsewhere needs no weights here: they stay on the Hub', async () => {
  const { directory } = await resolveModelDirectory('owner/tiny', { ...options, parts: 'without weights' });
  expect((await readdir(directory)).sort()).toEqual(['config.json', 'tokenizer.json', 'tokenizer_config.json']);
  const whole = await resolveModelDirectory('owner/tiny', options);
  expect(await readdir(whole.directory)).toContain('model.safetensors');
});

test('a revision after the name is downloaded and found again; the model keeps its name', async () => {
  hub.revisions.push('v1.0');
  const resolved = await resolveModelDirectory('owner/tiny@v1.0', options);
  expect(resolved).toEqual({
    id: 'owner/tiny',
    directory: join(root, 'hf', 'hub', 'models--owner--tiny', 'snapshots', COMMIT),
  });
  const offline = withHub({ offline: true });
  expect(await resolveModelDirectory('owner/tiny@v1.0', offline)).toEqual(resolved);
  expect(await resolveModelDirectory(`owner/tiny@${COMMIT}`, offline)).toEqual(resolved);
  await expect(resolveModelDirectory('owner/tiny', offline)).rejects.toMatchObject(
    rejection(/^Model owner\/tiny is not complete in the cache .*HF_HUB_OFFLINE is set/),
  );
});

test.each(['owner/tiny@', 'owner/tiny@../../x', 'owner/tiny@a/../b', 'owner/tiny@/x', 'owner/tiny@a@b'])(
  '%s names no revision',
  async (name) => {
    await expect(resolveModelDirectory(name, options)).rejects.toMatchObject(rejection(/is not a Hub id/));
    expect(hub.requests).toEqual([]);
  },
);

test('a model that another tool has downloaded is used in place', async () => {
  const folder = join(root, 'hf', 'hub', 'models--owner--theirs');
  const directory = await writeModel(join(folder, 'snapshots', COMMIT));
  await mkdir(join(folder, 'refs'));
  await writeFile(join(folder, 'refs', 'main'), COMMIT);
  expect(await resolveModelDirectory('owner/theirs', options)).toEqual({ id: 'owner/theirs', directory });
  expect(hub.requests).toEqual([]);
});

test('progress counts the bytes of the whole model, and has an end', async () => {
  await resolveModelDirectory('owner/tiny', options);
  const size = 200_000 + CONFIG.length + 2 + 2;
  expect(shown.at(-2)).toBe(`owner/tiny ${size} of ${size}`);
  expect(shown.at(-1)).toBe('owner/tiny ended');
});

const withFiles = async (name: string, files: Record<string, string>): Promise<string> => {
  const directory = join(root, name);
  await mkdir(directory);
  for (const [file, text] of Object.entries(files)) await writeFile(join(directory, file), text);
  return directory;
};

const ADAPTER = JSON.stringify({ peft_type: 'LORA', base_model_name_or_path: 'Qwen/Qwen3-0.6B' });
test.each([
  [
    'an adapter',
    { 'adapter_config.json': ADAPTER, 'adapter_model.safetensors': '' },
    /is a PEFT adapter, not a model\. Start with --model Qwen\/Qwen3-0\.6B, and pass a directory with these files to --adapter\./,
  ],
  [
    'pickles',
    { 'pytorch_model.bin': '', 'config.json': CONFIG, 'tokenizer.json': '{}' },
    /only pickled PyTorch weights.*save_pretrained/,
  ],
  [
    'pickles in parts',
    { 'pytorch_model-00001-of-00002.bin': '', 'config.json': CONFIG },
    /only pickled PyTorch weights/,
  ],
  ['Mistral’s layout', { 'consolidated.safetensors': '', 'params.json': '{}' }, /Mistral's own layout only/],
  ['a pipeline', { 'model_index.json': '{}' }, /Diffusers pipeline/],
  [
    'an old tokenizer',
    { 'model.safetensors': '', 'config.json': CONFIG, 'tokenizer.model': '' },
    /no tokenizer\.json, only a tokenizer in an older format/,
  ],
] as [string, Record<string, string>, RegExp][])(
  '%s is refused by name, as a directory and on the Hub',
  async (_, files, message) => {
    const directory = await withFiles('theirs', files);
    await expect(resolveModelDirectory(directory, options)).rejects.toMatchObject(
      rejection(message, 'bad_model_files'),
    );
    hub.files = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]));
    const source = message.source.replace('Qwen\\/Qwen3-0\\.6B', 'the base model that adapter_config\\.json names');
    await expect(resolveModelDirectory('owner/tiny', options)).rejects.toMatchObject(
      rejection(new RegExp(source), 'bad_model_files'),
    );
    expect(hub.requests.some((url) => url.includes('/resolve/'))).toBe(false);
  },
);

test.each([
  ['weights.safetensors', /is only a file of weights\. Give its directory, which also needs config\.json/],
  ['model-q4.gguf', /it is not a GGUF file: it does not begin with GGUF/],
  ['mmproj-model.gguf', /is an auxiliary GGUF file .*, not a model/],
  ['model.pt', /pickled PyTorch weights/],
])('the file %s is not a model', async (name, message) => {
  const path = join(await withFiles('files', { [name]: '' }), name);
  await expect(resolveModelDirectory(path, options)).rejects.toMatchObject(rejection(message, 'bad_model_files'));
});

/** The starter, with as little data as its metadata. */
async function writeStarterGguf(path: string): Promise<string> {
  await exportGgufModel({ base: STARTER_DIRECTORY, adapter: null, out: path, name: 'starter' }, 'Q8_0');
  return path;
}

test('a GGUF file is a model, and so is a directory with one; the same file makes the same directory', async () => {
  const directory = await withFiles('ggufs', { 'mmproj-eyes.gguf': '' });
  const path = await writeStarterGguf(join(directory, 'Starter-Q8_0.gguf'));
  const resolved = await resolveModelDirectory(path, options);
  expect(resolved.id).toBe('Starter-Q8_0');
  expect(await resolveModelDirectory(directory, options)).toEqual({ id: 'ggufs', directory: resolved.directory });
  expect(await readDecoderConfig(resolved.directory)).toMatchObject({ family: 'qwen3', hidden: 192, layers: 6 });
  expect(await readdir(options.ggufDirectory)).toHaveLength(1);
});

test('a GGUF file with a tensor that the model would not read is refused, as in llama.cpp', async () => {
  const path = await writeStarterGguf(join(await withFiles('sinks', {}), 'sinks.gguf'));
  const file = await readFile(path);
  const name = 'blk.0.attn_norm.weight';
  file.write('blk.0.attn_sink.weight', file.indexOf(name)); // as long
  await writeFile(path, file);
  await expect(resolveModelDirectory(path, options)).rejects.toMatchObject(
    rejection(/its tensor blk\.0\.attn_sink\.weight has no place in qwen3 as it is supported here/, 'bad_model_files'),
  );
});

test('of several GGUF files in a directory one must be named', async () => {
  const directory = await withFiles('several', { 'a-Q4_K_M.gguf': '', 'a-Q8_0.gguf': '' });
  await expect(resolveModelDirectory(directory, options)).rejects.toMatchObject(
    rejection(/several GGUF files\. Choose one of them: a-Q4_K_M\.gguf, a-Q8_0\.gguf/, 'bad_model_files'),
  );
});

test.each([
  [{ model_type: 'olmoe' }, /its mixture of experts differs/],
  [{ model_type: 'brand_new', num_local_experts: 8 }, /"brand_new" is not supported: its mixture of experts differs/],
  [{ model_type: 'qwen2_5_vl' }, /it reads images; the text-only Qwen2\.5 is supported/],
  [{ model_type: 'brand_new', vision_config: {} }, /it reads images/],
  [{ model_type: 't5', is_encoder_decoder: true }, /it has an encoder/],
  [{ quantization_config: { quant_method: 'gptq', bits: 4 } }, /"gptq".*GPTQ.*without -GPTQ-Int4/],
  [{ quantization_config: { quant_method: 'awq' } }, /"awq".*AWQ/],
  [{ quantization_config: { quant_method: 'fp8' } }, /"fp8".*8-bit floats.*without -FP8/],
  [
    { quantization_config: { quant_method: 'bitsandbytes', load_in_4bit: true } },
    /4-bit or 8-bit codes of bitsandbytes.*without -bnb-4bit/,
  ],
])('a model with %j is refused before its weights are fetched; workers may know it', async (change, message) => {
  hub.files['config.json'] = Buffer.from(JSON.stringify({ ...(JSON.parse(CONFIG) as object), ...change }));
  await expect(resolveModelDirectory('owner/tiny', options)).rejects.toMatchObject(
    rejection(message, 'bad_model_files'),
  );
  expect(hub.requests.some((url) => url.endsWith('.safetensors'))).toBe(false);
  expect(await resolveModelDirectory('owner/tiny', { ...options, parts: 'without weights' })).toMatchObject({
    id: 'owner/tiny',
  });
});
