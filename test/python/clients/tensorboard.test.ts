// The official tensorboard package reads the event files that the server writes: python/clients/check_tensorboard.py. Needs the
// interpreter that WHETSTONE_CLIENTS_PYTHON names (scripts/python-env.sh clients); the bytes are checked without it in
// test/service/api/step-history.test.ts.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { eventFile } from '#api/models/tensorboard';
import { runPython } from '../../support/python-script.ts';
import { skipWithoutPython } from '../../support/skipping.ts';

const python = process.env['WHETSTONE_CLIENTS_PYTHON'];

const SCRIPT = fileURLToPath(new URL('../../../python/clients/check_tensorboard.py', import.meta.url));

describe('TensorBoard', skipWithoutPython('WHETSTONE_CLIENTS_PYTHON'), () => {
  test('reads every scalar of an event file', { timeout: 120_000 }, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'whetstone-tensorboard-'));
    try {
      const steps = [0, 1, 2].map((step) => ({
        timeMs: 1_700_000_000_500 + 1000 * step,
        step,
        scalars: { 'train/reward': step / 4, 'loß/ü': -1.25e9, ...(step === 1 ? { 'skipped/equal_rewards': 3 } : {}) },
      }));
      const path = join(directory, 'events.out.tfevents.0.whetstone');
      await writeFile(path, Buffer.concat([...eventFile(steps)]));
      const stdout = await runPython(python!, [SCRIPT, directory]);
      const at = (step: number, value: number) => [step, 1_700_000_000.5 + step, value];
      expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual({
        records: 4,
        version: 2,
        scalars: {
          'train/reward': [at(0, 0), at(1, 0.25), at(2, 0.5)],
          'loß/ü': [at(0, -1.25e9), at(1, -1.25e9), at(2, -1.25e9)],
          'skipped/equal_rewards': [at(1, 3)],
        },
      });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
