import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generateConfiguration } from '../../scripts/generate-config.ts';
import { settingOptions } from './describe-settings.ts';
import { SETTINGS } from './settings.ts';
import { readServerConfig } from './server-config.ts';

test('without flags and environment the defaults hold, and nothing can change them later', () => {
  const config = readServerConfig({}, {});
  expect(config.listen).toEqual({ host: SETTINGS.host.default, port: SETTINGS.port.default });
  expect(config.models).toEqual(['starter']);
  expect(config.api).toMatchObject({ basePath: '', bodyBytesMax: 16_000_000, trainingBodyBytesMax: 512_000_000 });
  expect(() => Object.assign(config.api, { basePath: '/x' })).toThrow(TypeError);
});

test('a flag overrides the environment, and an empty variable counts as unset', () => {
  const env = { WHETSTONE_PORT: '1111', WHETSTONE_DATA: '/env', WHETSTONE_API_KEY: '' };
  expect(readServerConfig({}, env)).toMatchObject({
    listen: { port: 1111 },
    dataDirectory: '/env',
    bootstrapKey: null,
  });
  expect(readServerConfig({ port: '2222', data: '/flag' }, env)).toMatchObject({
    listen: { port: 2222 },
    dataDirectory: '/flag',
  });
});

test('~/ is the home directory where no shell has replaced it, as in --data=~/x or a file of systemd', () => {
  expect(readServerConfig({ data: '~/x', chatTemplate: '~/t.jinja' }, {})).toMatchObject({
    dataDirectory: join(homedir(), 'x'),
    chatTemplate: join(homedir(), 't.jinja'),
  });
  expect(readServerConfig({}, { WHETSTONE_DATA: '~/y' }).dataDirectory).toBe(join(homedir(), 'y'));
  expect(() => readServerConfig({ data: '' }, {})).toThrow('--data must be a directory, not "".');
});

test('a cache is in float32 unless it is asked for in 16 bits', () => {
  const dtypeOf = (env: Record<string, string>) => readServerConfig({}, env).kvCacheDtype;
  expect([dtypeOf({}), dtypeOf({ WHETSTONE_KV_CACHE_DTYPE: 'float16' })]).toEqual(['float32', 'float16']);
  expect(() => dtypeOf({ WHETSTONE_KV_CACHE_DTYPE: 'fp8' })).toThrow(
    /WHETSTONE_KV_CACHE_DTYPE must be one of auto, float16/,
  );
});

test('a base path loses its trailing slashes', () => {
  expect(readServerConfig({ basePath: '/api/training/' }, {}).api.basePath).toBe('/api/training');
});

test.each([
  [{ port: '70000' }, {}, /port must be an integer from 0 to 65535/],
  [{}, { WHETSTONE_API_KEY: 'wk-…' }, /^WHETSTONE_API_KEY must be ASCII characters without spaces\. Keys are as /],
  [{}, { WHETSTONE_BODY_MB_MAX: '0' }, /WHETSTONE_BODY_MB_MAX must be an integer from 1/],
  [{}, { WHETSTONE_DATABASE_URL: 'mysql://x' }, /WHETSTONE_DATABASE_URL must be an address such as postgres/],
  [{}, { WHETSTONE_BLOBS_URL: 'https://x/y' }, /WHETSTONE_BLOBS_URL must be an address such as s3:/],
  [{}, { WHETSTONE_BLOBS_URL: 's3://x?endpoint=nonsense' }, /WHETSTONE_BLOBS_URL must be an address/],
  [{}, { WHETSTONE_BLOBS_URL: 's3://x?key=secret' }, /WHETSTONE_BLOBS_URL must be an address/],
  [{}, { WHETSTONE_SAVE_SECONDS: '-1' }, /WHETSTONE_SAVE_SECONDS must be an integer/],
  [{}, { WHETSTONE_DRAIN_SECONDS: 'x' }, /WHETSTONE_DRAIN_SECONDS must be an integer/],
  [{ role: 'api,chat' }, {}, /role must be a comma-separated list of api, serve, train, not "api,chat"/],
  [{ role: '' }, {}, /role must be/],
  [{ role: 'api' }, {}, /set WHETSTONE_DATABASE_URL=postgres:\/\/… and WHETSTONE_BLOBS_URL=s3:\/\/…/],
  [{}, { WHETSTONE_ROLE: 'train', WHETSTONE_DATABASE_URL: 'postgres://x/y' }, /: set WHETSTONE_BLOBS_URL=s3:/],
  [{ basePath: '/a b' }, {}, /--base-path must be a path such as \/api\/training, not "\/a b"/],
  [{}, { WHETSTONE_PORT: 'x' }, /WHETSTONE_PORT must be an integer from 0 to 65535, not "x"/],
  [{ model: ['starter', ''] }, {}, /--model must be non-empty text/],
  [{ maxLogprobs: '-2' }, {}, /--max-logprobs must be an integer from -1/],
  [{ trainingPrecision: 'w8a8' }, {}, /--training-precision must be one of float32, int8, not "w8a8"/],
  [
    { role: 'api,serve' },
    { WHETSTONE_TRAINING_PRECISION: 'int8' },
    /and a server with the role api,serve does not train/,
  ],
  [{ trainingPrecision: 'int8', workerModel: ['a'] }, {}, /and the trainers of --worker-model are workers/],
  [{ trainingMemory: '0' }, {}, /--training-memory must be a number of gigabytes such as 8 or 0.5, not "0"/],
])('%j with %j is refused by name', (flags, env, message) => {
  expect(() => readServerConfig(flags, env)).toThrow(message);
});

test.each([
  { WHETSTONE_DATABASE_URL: 'mysql://me:hunter2@db/x' },
  { WHETSTONE_DATABASE_URL: 'postgres://me:12/hunter2@db/x' },
  { WHETSTONE_DATABASE_URL: 'postgres://me:12#hunter2@db/x' },
  { WHETSTONE_DATABASE_URL: 'postgres://me:12?hunter2@db/x' },
  { WHETSTONE_BLOBS_URL: 's3://key:hunter2@bucket' },
  { WHETSTONE_BLOBS_URL: 's3://bucket?secret=hunter2' },
  { WHETSTONE_BLOBS_URL: 's3://bucket?endpoint=https://key:hunter2@s3.internal' },
  { HF_ENDPOINT: 'https://user:hunter2@hub.internal' },
])('the refusal of %j does not repeat a possible secret', (env) => {
  const refusal = () => readServerConfig({}, env);
  expect(refusal).toThrow(/must be an address/);
  expect(refusal).not.toThrow(/hunter2/);
});

const hubOf = (env: Record<string, string>) => readServerConfig({}, env).hub;

test('the Hub’s variables mean the same as to its own tools', () => {
  expect(hubOf({ XDG_CACHE_HOME: '/xdg' })).toMatchObject({
    cacheDirectory: join('/xdg', 'huggingface', 'hub'),
    tokenPath: join('/xdg', 'huggingface', 'token'),
    endpoint: 'https://huggingface.co',
    token: null,
    offline: false,
  });
  expect(hubOf({ XDG_CACHE_HOME: '/xdg', HF_HOME: '/hf' }).cacheDirectory).toBe(join('/hf', 'hub'));
  expect(hubOf({ HF_HOME: '/hf', HF_HUB_CACHE: '~/models' })).toMatchObject({
    cacheDirectory: `${homedir()}/models`,
    tokenPath: join('/hf', 'token'),
  });
  expect(hubOf({ HUGGING_FACE_HUB_TOKEN: 'hf_old' }).token).toBe('hf_old');
  expect(hubOf({ HUGGING_FACE_HUB_TOKEN: 'hf_old', HF_TOKEN: 'hf_new' }).token).toBe('hf_new');
  expect(hubOf({ HF_ENDPOINT: 'https://mirror.example/' }).endpoint).toBe('https://mirror.example');
  for (const yes of ['1', 'ON', 'yes', 'True']) expect(hubOf({ HF_HUB_OFFLINE: yes }).offline).toBe(true);
  expect(hubOf({ HF_HUB_OFFLINE: '0' }).offline).toBe(false);
  expect(() => hubOf({ HF_HUB_OFFLINE: 'maybe' })).toThrow('HF_HUB_OFFLINE must be 1 or 0, not "maybe".');
});

test('roles come in their own order, all of them unless some are named', () => {
  const shared = { WHETSTONE_DATABASE_URL: 'postgres://x/y', WHETSTONE_BLOBS_URL: 's3://bucket' };
  expect(readServerConfig({}, {}).roles).toEqual(['api', 'serve', 'train']);
  expect(readServerConfig({ role: 'train, serve,api' }, {}).roles).toEqual(['api', 'serve', 'train']);
  expect(readServerConfig({ role: 'train,api' }, { ...shared, WHETSTONE_ROLE: 'serve' }).roles).toEqual([
    'api',
    'train',
  ]);
});

test('a single server may leave out chat or training, but not the role that stores its models', () => {
  expect(readServerConfig({ role: 'api,serve' }, {}).roles).toEqual(['api', 'serve']);
  expect(readServerConfig({ role: 'api,train' }, { WHETSTONE_BLOBS_URL: 's3://bucket' }).roles).toEqual([
    'api',
    'train',
  ]);
  for (const role of ['serve', 'train', 'api', 'serve,train'])
    expect(() => readServerConfig({ role }, {})).toThrow('A single server that only chats needs --role api,serve');
  const postgres = { WHETSTONE_DATABASE_URL: 'postgres://x/y' };
  expect(() => readServerConfig({ role: 'api,serve' }, postgres)).toThrow('set WHETSTONE_BLOBS_URL=s3://…');
});

test('an S3 URL names bucket, prefix, endpoint and region', () => {
  const read = (url: string) => readServerConfig({}, { WHETSTONE_BLOBS_URL: url }).s3;
  expect(read('s3://bucket')).toEqual({ bucket: 'bucket', prefix: '', endpoint: null, region: null });
  expect(read('s3://bucket/some/where/?endpoint=http://127.0.0.1:9000&region=eu-1')).toEqual({
    bucket: 'bucket',
    prefix: 'some/where/',
    endpoint: 'http://127.0.0.1:9000',
    region: 'eu-1',
  });
  expect(readServerConfig({}, {}).s3).toBeNull();
});

test('each flag has the name of its key in the table', () => {
  const flags = Object.entries(SETTINGS).filter(([, declared]) => 'flag' in declared);
  const names = settingOptions().map((option) => option.attributeName());
  expect(names.toSorted()).toEqual(flags.map(([key]) => key).toSorted());
});

test('docs/configuration.md shows every setting as it is declared (npm run generate:config)', async () => {
  const document = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  expect(document).toBe(await generateConfiguration());
});
