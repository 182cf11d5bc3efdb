// Names of base models for Tinker clients: the server's own, and aliases of them (--tinker-alias).
import { AppError } from '#domain/errors';
import type { BaseModel, BaseModels } from '../models/base-models.ts';

export interface TinkerNames {
  /** Throws `base_model_not_found`. */
  get(name: string): BaseModel;
  /** Throws `invalid_request` if weights of this base model were asked for under the name of another. */
  refuseOther(name: string | null, baseModel: string): void;
  list(): readonly { readonly name: string; readonly base: BaseModel }[];
}

export function createTinkerNames(baseModels: BaseModels, aliases: ReadonlyMap<string, string>): TinkerNames {
  for (const [alias, name] of aliases) {
    if (baseModels.find(name)) continue;
    throw new AppError('invalid_request', `--tinker-alias ${alias}=${name}: this server does not host ${name}.`);
  }
  const get = (name: string) => baseModels.get(aliases.get(name) ?? name);
  return {
    get,
    refuseOther(name, baseModel) {
      if (name === null || get(name).id === baseModel) return;
      const message = `The weights are of ${baseModel}, not of ${name.slice(0, 300)}. Leave out base_model, or send its name.`;
      throw new AppError('invalid_request', message, { param: 'base_model' });
    },
    list: () => [
      ...baseModels.list().map((base) => ({ name: base.id, base })),
      ...[...aliases].map(([name, id]) => ({ name, base: baseModels.get(id) })),
    ],
  };
}
