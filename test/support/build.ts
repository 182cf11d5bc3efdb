// Global setup of the projects whose tests start the product from dist: builds it if its sources have changed.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const setup = (): void => {
  const script = fileURLToPath(new URL('../../scripts/build.ts', import.meta.url));
  execFileSync(process.execPath, ['--import', 'tsx', script], { stdio: 'inherit' });
};
