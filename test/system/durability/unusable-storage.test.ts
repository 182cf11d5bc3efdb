// The error of `whetstone serve` for a storage that it cannot use: one sentence with what is wrong, where, and what to do, and exit
// code 1. Permissions do not bind root, so root starts the server as another user.
import { execFile, spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWebhookSecret } from '#base/ids';
import { silentLog } from '#base/log';
import { AppError } from '#domain/errors';
import { openSqlStorage } from '#storage/sql/sql-storage';
import { createSqliteDialect } from '#storage/sql/sqlite-dialect';
import { CLI } from '../../support/cli-command.ts';
import { readServerConfig } from '../../../src/config/server-config.ts';
import { startServer } from '../../../src/main.ts';
import { skipUnless } from '../../support/skipping.ts';

const NOBODY = 65_534;
const SOMEBODY_ELSE = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

let root: string;
let data: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'whetstone-unusable-'));
  data = join(root, 'data');
  await mkdir(data, { mode: 0o700 });
  await hand(root, data);
});
afterEach(async () => {
  await chmod(data, 0o700).catch(() => undefined);
  await rm(root, { recursive: true, force: true, maxRetries: 5 }); // a server that is ending may still write
});

const hand = async (...paths: string[]) => {
  for (const path of paths) if (SOMEBODY_ELSE.uid !== undefined) await chown(path, NOBODY, NOBODY);
};

interface Started {
  readonly code: number;
  readonly stderr: string;
}

/** Returns how it exited: none of these servers starts. */
async function serve(): Promise<Started> {
  const args = [CLI, 'serve', '--port', '0', '--data', data, '--log-format', 'json'];
  try {
    await promisify(execFile)(process.execPath, args, { ...SOMEBODY_ELSE, timeout: 50_000 });
    throw new Error('the server started');
  } catch (error) {
    const { code, stderr } = error as Started;
    return { code, stderr };
  }
}

function expectOneSentence({ code, stderr }: Started, ...says: (string | RegExp)[]): void {
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect(lines, stderr).toHaveLength(1);
  expect(lines[0]).toMatch(/^error: /);
  for (const each of says) expect(lines[0]).toMatch(each);
  expect(code).toBe(1);
}

describe('a directory that can only be read', () => {
  const readsCheckout = ['-e', `require('fs').readFileSync(${JSON.stringify(CLI)})`];
  /** In a home directory, the other user may not be able to read this checkout. */
  const isReachable = spawnSync(process.execPath, readsCheckout, SOMEBODY_ELSE).status === 0;

  const options = skipUnless(isReachable, 'another user may not read this checkout, or there is no other user');

  test.each(['.', 'blobs'])('%s', options, async (name) => {
    const path = join(data, name);
    await mkdir(path, { recursive: true });
    await hand(path);
    await chmod(path, 0o500);
    expectOneSentence(await serve(), /no permission to use its storage/, path, /Let the user that runs the server/);
    await chmod(path, 0o700);
  });
});

/** The error with which a server in this process refuses to start. */
async function refusal(): Promise<string> {
  const starting = startServer(readServerConfig({ data, port: '0' }, {}), silentLog);
  const error: unknown = await starting.then(
    (server) => server.close(),
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(AppError);
  return (error as AppError).message;
}

test.each(['data', 'data/blobs'])('a file where the directory %s belongs', async (name) => {
  const path = join(root, name);
  await rm(path, { recursive: true, force: true });
  await writeFile(path, '');
  const told = await refusal();
  for (const says of [path, 'A file is where a directory belongs', 'Move it away']) expect(told).toContain(says);
});

describe('a damaged database', () => {
  const PAGE = 4096;

  /** A store of many pages, all in the file itself. */
  async function fill(path: string): Promise<number> {
    const storage = await openSqlStorage(createSqliteDialect(path, 'copy'), path, silentLog);
    for (let i = 0; i < 20; i++) {
      const url = `https://example.com/${'x'.repeat(1_500)}`;
      const webhook = { id: String(i), entity: 'e', url, events: [], secret: createWebhookSecret() };
      await storage.webhooks.create({ ...webhook, createdAtMs: i, disabledAtMs: null }, 100);
    }
    await storage.close();
    return Math.floor((await stat(path)).size / PAGE);
  }

  async function scribble(path: string, from: number, to: number): Promise<void> {
    const file = await open(path, 'r+');
    await file.write(Buffer.alloc(to - from, 0x5a), 0, to - from, from);
    await file.close();
  }

  test.each([
    ['its header', () => [0, 50]],
    ['its schema', () => [100, PAGE]],
    ['pages of rows', (pages: number) => [PAGE, pages * PAGE]],
  ])('%s', async (_, where) => {
    const path = join(data, 'whetstone.db');
    const pages = await fill(path);
    expect(pages).toBeGreaterThan(20);
    const [from, to] = where(pages);
    await scribble(path, from!, to!);
    const told = await refusal();
    for (const says of [path, /malformed|not a database/, /whetstone doctor/, /whetstone restore/])
      expect(told).toMatch(says);
  });
});
