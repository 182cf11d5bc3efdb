// The live heap does not grow with the data set: a process prepares and trains more rows than would fit as objects.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FROM_SOURCE } from '../../support/cli-command.ts';

const HEAP_MB = 80;
/** As objects with their tokens some 50 MB, in addition to the 42 MB of such a process without them. */
const ROWS = 50_000;

test('an SFT job of more rows than the heap would hold is prepared and trained', () => {
  const script = fileURLToPath(new URL('./small-heap-child.ts', import.meta.url));
  const args = [...FROM_SOURCE, `--max-old-space-size=${HEAP_MB}`, script, String(ROWS)];
  const child = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 180_000 });
  expect(child.status, child.stderr).toBe(0);
  expect(JSON.parse(child.stdout)).toEqual({ status: 'succeeded', errorMessage: null });
}, 200_000);
