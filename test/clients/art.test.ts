// The ART library, unmodified, trains a model here: python/clients/check_art.py talks to a server started here. Needs the
// interpreter that WHETSTONE_CLIENTS_PYTHON names (scripts/python-env.sh clients).
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { KEY, KEY_OF_40, MODEL, openStarterServer } from './starter-server.ts';

const python = process.env['WHETSTONE_CLIENTS_PYTHON'];
if (!python)
  console.log('ART skipped: WHETSTONE_CLIENTS_PYTHON names no interpreter. Try $(scripts/python-env.sh clients).');

const script = (name: string) => fileURLToPath(new URL(`../../python/clients/${name}`, import.meta.url));

describe.skipIf(!python)('ART', () => {
  test(
    'registers, rolls out, trains two steps, evaluates old and new ones, cleans up',
    { timeout: 180_000 },
    async () => {
      const server = await openStarterServer();
      try {
        const { stdout } = await promisify(execFile)(python!, [script('check_art.py'), server.baseUrl, KEY, MODEL]);
        expect(stdout.trim().split('\n').at(-1)).toBe('ok');
      } finally {
        await server.close();
      }
    },
  );

  test(
    'fine-tunes from a list, a generator and a file, logs, pulls, forks and deletes through wandb',
    { timeout: 300_000 },
    async () => {
      const server = await openStarterServer(KEY_OF_40);
      try {
        const root = server.baseUrl.replace(/\/v1$/, '');
        const { stdout } = await promisify(execFile)(python!, [script('check_art_wandb.py'), root, KEY_OF_40, MODEL]);
        expect(stdout.trim().split('\n').at(-1)).toBe('ok');
      } finally {
        await server.close();
      }
    },
  );
});
