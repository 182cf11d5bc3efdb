// Read access to the database of a server is not enough to sign webhooks; they keep being signed across restarts, new keys
// and backups.
import { randomBytes } from 'node:crypto';
import { lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSecretBox } from '#base/secret-box';
import { createId, createWebhookSecret } from '#base/ids';
import { silentLog } from '#base/log';
import { runBackup } from '#maintenance/run-backup';
import { runRestore } from '#maintenance/run-restore';
import { WEBHOOK_EVENTS, type Webhook } from '#domain/webhook';
import { prepareSealedWebhooks, refuseUnsealedWebhooks } from '#storage/sealed-webhooks';
import { readServerConfig } from '../../../src/config/server-config.ts';
import { readSecretKeys } from '../../../src/server/secret-keys.ts';
import { fillStore, localStore, quiet, using } from '../durability/a-store.ts';
import { openStorageInMemory } from '../../support/storage-in-memory.ts';

let root: string;
beforeEach(async () => void (root = await mkdtemp(join(tmpdir(), 'whetstone-sealed-'))));
afterEach(() => rm(root, { recursive: true, force: true }));

const aWebhook = (): Webhook => ({
  id: createId(),
  entity: 'team',
  url: 'https://example.com/',
  events: WEBHOOK_EVENTS,
  secret: createWebhookSecret(),
  createdAtMs: 1,
  disabledAtMs: null,
});

const keysOf = async (data: string, env: Record<string, string> = {}) => {
  const keys = await readSecretKeys(readServerConfig({ data }, env));
  return keys && createSecretBox(keys);
};

test('a database has no secret in plain text, neither a new one nor one of an older version', async () => {
  const data = join(root, 'data');
  const [old, made] = [aWebhook(), aWebhook()];
  await fillStore(localStore(data));
  await using(localStore(data), async ({ storage }) => {
    await storage.webhooks.create(old, 9); // as an older version did
    const sealed = await prepareSealedWebhooks(storage.webhooks, (await keysOf(data))!, silentLog);
    await sealed.create(made, 9);
    for (const { id, secret } of await storage.webhooks.list('team'))
      expect([id, secret]).toEqual([id, expect.stringMatching(/^sealed:/)]);
  });
  const files = (await readdir(data)).filter((name) => name.startsWith('whetstone.db'));
  const again = await using(localStore(data), async ({ storage }) => storage.webhooks.list('team'));
  const box = (await keysOf(data))!;
  expect(again.map(({ id, secret }) => box.open(secret, id))).toEqual(
    expect.arrayContaining([old.secret, made.secret]),
  );
  expect(files).toContain('whetstone.db');
  for (const name of files) {
    const bytes = await readFile(join(data, name)).catch(() => null); // SQLite deletes its own files with its last connection
    expect(bytes === null && name === 'whetstone.db').toBe(false);
    expect(bytes?.includes(made.secret) ?? false).toBe(false);
  }
  expect((await lstat(join(data, 'secret.key'))).mode & 0o777).toBe(0o600);
});

test('a new operator key replaces the one in the file, and the error for a lost key names it', async () => {
  const store = (await openStorageInMemory()).webhooks;
  const data = join(root, 'data');
  await fillStore(localStore(data));
  const webhook = aWebhook();
  await (await prepareSealedWebhooks(store, (await keysOf(data))!, silentLog)).create(webhook, 9);
  const env = { WHETSTONE_SECRET_KEY: randomBytes(32).toString('base64') };
  await prepareSealedWebhooks(store, (await keysOf(data, env))!, silentLog);
  const { secret } = (await store.find(webhook.id))!;
  expect((await keysOf(join(root, 'elsewhere'), env))!.open(secret, webhook.id)).toBe(webhook.secret);
  expect((await keysOf(data))!.open(secret, webhook.id)).toBeNull();
  expect(() => readServerConfig({}, { WHETSTONE_SECRET_KEY: 'hunter2' })).toThrow(
    /^WHETSTONE_SECRET_KEY must be 32 random bytes in base64(?!.*hunter2)/,
  );
});

test('servers that share a Postgres and a store need a shared key; without one they make no webhooks', async () => {
  const database = { WHETSTONE_DATABASE_URL: 'postgres://x/y' };
  expect(await keysOf(root, database)).not.toBeNull();
  const shared = { ...database, WHETSTONE_BLOBS_URL: 's3://bucket?endpoint=http://127.0.0.1:1&region=r' };
  expect(await keysOf(root, shared)).toBeNull();
  const store = (await openStorageInMemory()).webhooks;
  const refusing = refuseUnsealedWebhooks(store, silentLog);
  await expect(refusing.create(aWebhook(), 9)).rejects.toThrow(/WHETSTONE_SECRET_KEY/);
  expect(await store.list('team')).toEqual([]);
});

test('a backup and the store restored from it have the key', async () => {
  const [data, backup, copy] = ['data', 'backup', 'copy'].map((name) => join(root, name)) as [string, string, string];
  await fillStore(localStore(data));
  const webhook = aWebhook();
  await using(localStore(data), async ({ storage }) =>
    (await prepareSealedWebhooks(storage.webhooks, (await keysOf(data))!, silentLog)).create(webhook, 9),
  );
  await runBackup(localStore(data), backup, quiet);
  await runRestore(localStore(copy), backup, false, quiet);
  const [restored] = await using(localStore(copy), async ({ storage }) => storage.webhooks.list('team'));
  expect((await keysOf(copy))!.open(restored!.secret, webhook.id)).toBe(webhook.secret);
  for (const directory of [backup, copy]) expect((await lstat(join(directory, 'secret.key'))).mode & 0o777).toBe(0o600);
});
