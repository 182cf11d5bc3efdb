// The first key of a new server, and the refusal to listen to the world without one. Knows nothing of what keys allow.
import { SCOPES } from '#domain/api-key';
import { AppError } from '#domain/errors';
import { DEFAULT_ENTITY, type ApiKeys } from '#services/api-keys';
import type { ServerConfig } from '#config';

/** Null: there are keys already, or others make them. */
export async function createFirstKey(
  apiKeys: ApiKeys,
  { bootstrapKey, roles }: Pick<ServerConfig, 'bootstrapKey' | 'roles'>,
): Promise<string | null> {
  if (bootstrapKey !== null || !roles.includes('api') || (await apiKeys.list(null)).length > 0) return null;
  return (await apiKeys.create({ entity: DEFAULT_ENTITY, name: 'first start', scopes: SCOPES })).secret;
}

/** Whoever can reach a server without keys could read its first key from a log. */
export async function refuseOpenDoor(
  apiKeys: ApiKeys,
  { listen: { host }, bootstrapKey, dataDirectory }: ServerConfig,
): Promise<void> {
  if (isLoopback(host) || bootstrapKey !== null) return;
  if ((await apiKeys.list(null)).some(({ revokedAtMs }) => revokedAtMs === null)) return;
  throw new AppError(
    'invalid_request',
    `${host} can be reached from other machines, and there is no API key yet. Make one with \`whetstone keys create --data ${dataDirectory}\`, or set WHETSTONE_API_KEY; or listen on 127.0.0.1.`,
  );
}

/** `localhost` is what resolvers must not send elsewhere (RFC 6761 §6.3). */
const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(?:\.\d+){3}$/.test(host);
