import { getPriority } from 'node:os';
import { expect, test, vi } from 'vitest';
import { forkWorker, withoutSecrets } from './fork-worker.ts';

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

test.each([0, 12])(
  'a trainer has the niceness that was asked for (%i), or the lower priority of its parent',
  async (nice) => {
    const child = forkWorker('training', nice);
    try {
      await vi.waitFor(() => expect(getPriority(child.pid)).toBe(Math.max(getPriority(), nice)), { timeout: 60_000 });
    } finally {
      child.kill('SIGKILL');
    }
  },
);
