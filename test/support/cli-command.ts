// The command as users run it: from dist, which test/support/build.ts has built. For tests that start processes.
import { fileURLToPath } from 'node:url';

export const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** Options of node for a program of the tests, which is TypeScript. */
export const FROM_SOURCE = ['--import', 'tsx', '-C', 'source'];
