import { getPriority } from 'node:os';
import { expect, test, vi } from 'vitest';
import { forkWorker, onlyNeeded } from './fork-worker.ts';

test('an engine process inherits what it may need of the environment, and nothing that may be secret', () => {
  const needed = [
    ...['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL', 'XDG_CACHE_HOME', 'LD_PRELOAD', 'LD_LIBRARY_PATH'],
    ...['MALLOC_ARENA_MAX', 'GLIBC_TUNABLES', 'OMP_NUM_THREADS', 'ORT_INTRA_OP_NUM_THREADS', 'KMP_AFFINITY'],
    ...['NODE_OPTIONS', 'NODE_V8_COVERAGE', 'NODE_EXTRA_CA_CERTS', 'UV_THREADPOOL_SIZE', 'WHETSTONE_TRAINER_NICE'],
  ];
  const others = [
    ...['WHETSTONE_API_KEY', 'WHETSTONE_DATABASE_URL', 'WHETSTONE_BLOBS_URL', 'WHETSTONE_SECRET_KEY', 'HF_TOKEN'],
    ...['PGPASSWORD', 'AWS_SECRET_ACCESS_KEY', 'AWS_ACCESS_KEY_ID', 'OTEL_EXPORTER_OTLP_HEADERS'],
    ...['HTTPS_PROXY', 'https_proxy', 'MAIL_PASS', 'GITHUB_PAT', 'SENTRY_DSN', 'REDIS_URI', 'NODE_AUTH_TOKEN'],
    ...['LD_SDK_KEY', 'ANYTHING'],
  ];
  const env = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'x']));
  expect(onlyNeeded(env([...needed, ...others]))).toEqual(env(needed));
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
