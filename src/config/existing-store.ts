// The configuration of a store that commands read or repair. Without this check, a command in a directory where no server was ever
// started would create an empty store and report that all is well.
import { existsSync } from 'node:fs';
import { AppError } from '#domain/errors';
import { readStoreConfig, type StoreConfig } from './server-config.ts';

/** Throws `not_found`. */
export function readExistingStore(data: string | undefined, env: NodeJS.ProcessEnv): StoreConfig {
  const config = readStoreConfig(data, env);
  if (config.databaseUrl !== null || existsSync(config.dataDirectory)) return config;
  const message = `There is no data directory ${config.dataDirectory}. Run this where the server was started, or name its directory with --data or WHETSTONE_DATA.`;
  throw new AppError('not_found', message);
}
