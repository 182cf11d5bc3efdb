// The keys that encrypt secrets which must be readable again: the operator's key, which servers of one Postgres share, or the
// file of a data directory, created on first use. With both, the operator's key encrypts and the file's still decrypts.
import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { createId } from '#base/ids';
import { KEY_BYTES } from '#base/secret-box';
import { syncPath } from '#base/sync-path';
import { AppError } from '#domain/errors';
import type { ServerConfig } from '#config/server-config';
import { secretKeyPath } from '#config/data-directory';

/** Null: servers that share a Postgres and a blob store, but no key. */
export async function readSecretKeys(
  config: Pick<ServerConfig, 'secretKey' | 'databaseUrl' | 's3' | 'dataDirectory'>,
): Promise<readonly [Buffer, ...Buffer[]] | null> {
  const path = secretKeyPath(config.dataDirectory);
  const kept = await findKey(path);
  if (config.secretKey !== null) return [config.secretKey, ...(kept ? [kept] : [])];
  if (config.databaseUrl !== null && config.s3 !== null) return null; // a server with local blobs is the only one
  return [kept ?? (await makeKey(path))];
}

async function findKey(path: string): Promise<Buffer | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new AppError('damaged_data', `${path} is not a key of ${KEY_BYTES} bytes in base64. Restore it from a backup.`);
}

/** The file appears completely or not at all. */
async function makeKey(path: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES);
  const unfinished = `${path}.${createId()}`;
  try {
    await writeFile(unfinished, `${key.toString('base64')}\n`, { mode: 0o600 });
    await syncPath(unfinished);
    await link(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
  return key;
}
