// Creates the first key of a new server, kept for commands on the same machine, and refuses to listen publicly without a key. Knows nothing about scopes.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { isLoopback } from '#base/loopback';
import { SCOPES } from '#domain/api-key';
import { AppError } from '#domain/errors';
import { DEFAULT_ENTITY, type ApiKeys } from '#services/accounts/api-keys';
import type { ServerConfig } from '#config/server-config';
import { localKeyPath } from '#config/data-directory';

/** Null: keys exist already, or other servers create them. */
export async function makeFirstKey(
  apiKeys: ApiKeys,
  { bootstrapKey, roles, dataDirectory }: Pick<ServerConfig, 'bootstrapKey' | 'roles' | 'dataDirectory'>,
): Promise<string | null> {
  if (bootstrapKey !== null || !roles.includes('api') || (await apiKeys.list(null)).length > 0) return null;
  const { secret } = await apiKeys.create({ entity: DEFAULT_ENTITY, name: 'first start', scopes: SCOPES });
  // The file is a convenience: if it cannot be written, the key is still printed, and only then.
  await writeFile(localKeyPath(dataDirectory), `${secret}\n`, { mode: 0o600 }).catch(() => {});
  return secret;
}

/** The key that commands on this machine use, if it is still valid; null: there is none. */
export async function findLocalKey(apiKeys: ApiKeys, dataDirectory: string): Promise<string | null> {
  const key = await readFile(localKeyPath(dataDirectory), 'utf8').catch(() => null);
  if (key === null) return null;
  const hash = createHash('sha256').update(key.trim()).digest('hex');
  const isValid = (await apiKeys.list(null)).some((each) => each.secretHash === hash && each.revokedAtMs === null);
  return isValid ? key.trim() : null;
}

/** Anybody who can reach a server without keys could read its first key from a log. */
export async function refuseOpenDoor(
  apiKeys: ApiKeys,
  { listen: { host }, bootstrapKey, dataDirectory }: ServerConfig,
): Promise<void> {
  if (isLoopback(host) || bootstrapKey !== null) return;
  if ((await apiKeys.list(null)).some(({ revokedAtMs }) => revokedAtMs === null)) return;
  throw new AppError(
    'invalid_request',
    `${host} can be reached from other machines, and there is no API key yet. Create one with \`whetstone keys create --data ${dataDirectory}\`, or set WHETSTONE_API_KEY; or listen on 127.0.0.1.`,
  );
}
