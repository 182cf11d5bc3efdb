import { expect, test } from 'vitest';
import { DEFAULTS, readServerConfig } from './config.ts';

test('without flags and environment the defaults hold, and nothing can change them later', () => {
  const config = readServerConfig({}, {});
  expect(config.listen).toEqual({ host: DEFAULTS.host, port: DEFAULTS.port });
  expect(config.models).toEqual(['starter']);
  expect(config.api).toMatchObject({ basePath: '', bodyBytesMax: 16_000_000, trainingBodyBytesMax: 512_000_000 });
  expect(() => Object.assign(config.api, { basePath: '/x' })).toThrow(TypeError);
});

test('a flag wins over the environment, and an empty variable is none', () => {
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

test('a base path loses its trailing slashes', () => {
  expect(readServerConfig({ basePath: '/api/training/' }, {}).api.basePath).toBe('/api/training');
});

test.each([
  [{ port: '70000' }, {}, /port must be an integer from 0 to 65535/],
  [{}, { WHETSTONE_BODY_MB_MAX: '0' }, /WHETSTONE_BODY_MB_MAX must be an integer from 1/],
  [{}, { WHETSTONE_DATABASE_URL: 'mysql://x' }, /WHETSTONE_DATABASE_URL must look like postgres/],
  [{}, { WHETSTONE_BLOBS_URL: 'https://x/y' }, /WHETSTONE_BLOBS_URL must look like s3:/],
  [{}, { WHETSTONE_BLOBS_URL: 's3://x?endpoint=nonsense' }, /WHETSTONE_BLOBS_URL must look like/],
  [{}, { WHETSTONE_BLOBS_URL: 's3://x?key=secret' }, /WHETSTONE_BLOBS_URL must look like/],
  [{}, { WHETSTONE_SAVE_SECONDS: '-1' }, /WHETSTONE_SAVE_SECONDS must be an integer/],
  [{}, { WHETSTONE_DRAIN_SECONDS: 'x' }, /WHETSTONE_DRAIN_SECONDS must be an integer/],
  [{ role: 'api,chat' }, {}, /role must be a comma-separated list of api, serve, train, not "api,chat"/],
  [{ role: '' }, {}, /role must be/],
  [{ role: 'api' }, {}, /set WHETSTONE_DATABASE_URL=postgres:\/\/… and WHETSTONE_BLOBS_URL=s3:\/\/…/],
  [{}, { WHETSTONE_ROLE: 'train', WHETSTONE_DATABASE_URL: 'postgres://x/y' }, /: set WHETSTONE_BLOBS_URL=s3:/],
  [{ basePath: '/a b' }, {}, /base path/],
])('%j with %j is refused by name', (flags, env, message) => {
  expect(() => readServerConfig(flags, env)).toThrow(message);
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
