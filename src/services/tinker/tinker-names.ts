// Names of base models for Tinker clients: the server's own, and aliases of them (--tinker-alias).
import { AppError } from '#domain/errors';
import type { BaseModel, BaseModels } from '../models/base-models.ts';

export interface TinkerNames {
  /** Throws `base_model_not_found`. */
  get(name: string): BaseModel;
  list(): readonly { readonly name: string; readonly base: BaseModel }[];
}

export function createTinkerNames(baseModels: BaseModels, aliases: ReadonlyMap<string, string>): TinkerNames {
  for (const [alias, name] of aliases) {
    if (baseModels.find(name)) continue;
    throw new AppError('invalid_request', `--tinker-alias ${alias}=${name}: this server does not host ${name}.`);
  }
  return {
    get: (name) => baseModels.get(aliases.get(name) ?? name),
    list: () => [
      ...baseModels.list().map((base) => ({ name: base.id, base })),
      ...[...aliases].map(([name, id]) => ({ name, base: baseModels.get(id) })),
    ],
  };
}
