// Tests import the sources; `#folder/file` means `src/folder/file.ts`, as in package.json "imports".
// Children that the tests fork (engine workers) inherit execArgv, so they run from source as well.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const src = fileURLToPath(new URL('./src/', import.meta.url));

export default defineConfig({
  resolve: { alias: [{ find: /^#(.+)$/, replacement: `${src}$1.ts` }] },
  test: {
    include: ['src/**/*.test.ts', 'dashboard/src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['./scripts/skip-reporter.ts', 'default'],
    execArgv: ['--import', 'tsx', '-C', 'source'],
    // For what hangs; a busy machine takes its time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
