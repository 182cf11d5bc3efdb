// How usage names what it sums: keys by their names, models without the entity that all have in common. Pure.
import type { ApiKey } from '../api/wire.ts';

export const keyName = (id: string, keys: readonly Pick<ApiKey, 'id' | 'name'>[]): string =>
  keys.find((key) => key.id === id)?.name ?? (id === 'bootstrap' ? 'key of the environment' : `key ${id.slice(0, 8)}`);

/** `wandb-artifact:///team/demo/sums` is `demo/sums`; base models are as they are. */
export const modelName = (name: string): string => name.replace(/^wandb-artifact:\/{2,3}[^/]+\//, '');
