// Finds a model of the caller's entity. Another entity's model gives the same error as one that does not exist.
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import type { Storage } from '#storage/storage';

/** Throws `model_not_found`. */
export async function getOwnModel({ models }: Storage, { entity }: Caller, id: string): Promise<Model> {
  const model = await models.find(id);
  if (model && model.entity === entity) return model;
  const message = `No model ${id}. List yours with GET /v1/preview/models, or register it with POST /v1/preview/models.`;
  throw new AppError('model_not_found', message, { param: 'model_id' });
}
