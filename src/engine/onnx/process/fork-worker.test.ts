import { expect, test } from 'vitest';
import { withoutSecrets } from './fork-worker.ts';

test('an engine process inherits the environment without keys, passwords and addresses of stores', () => {
  const kept = { PATH: '/bin', OMP_NUM_THREADS: '2', XDG_CACHE_HOME: '/cache', NODE_OPTIONS: '--max-old-space-size=9' };
  const secret = [
    'WHETSTONE_API_KEY',
    'WHETSTONE_DATABASE_URL',
    'WHETSTONE_BLOBS_URL',
    'WHETSTONE_SECRET_KEY',
    'HF_TOKEN',
    'PGPASSWORD',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_ACCESS_KEY_ID',
    'OTEL_EXPORTER_OTLP_HEADERS',
  ];
  expect(withoutSecrets({ ...kept, ...Object.fromEntries(secret.map((name) => [name, 'x'])) })).toEqual(kept);
});
