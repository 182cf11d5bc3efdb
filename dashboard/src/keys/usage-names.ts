// How usage names the keys whose use it sums. Pure.
import type { ApiKey } from '../api/wire.ts';

export const keyName = (id: string, keys: readonly Pick<ApiKey, 'id' | 'name'>[]): string =>
  keys.find((key) => key.id === id)?.name ?? (id === 'bootstrap' ? 'key of the environment' : `key ${id.slice(0, 8)}`);
