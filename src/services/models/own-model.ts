// Finds a model of the caller's entity. Another entity's model gives the same error as one that does not exist.
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import type { Storage } from '#storage/storage';

/** Throws `model_not_found`. */
export async function getOwnModel({ models }: Storage, { entity }: Caller, id: string): Promise<Model> {
  const model = await models.find(id);
  if (model && model.entity === entity) return model;
  throw noModel(id);
}

const noModel = (id: string): AppError =>
  new AppError(
    'model_not_found',
    `No model ${id}. List yours with GET /v1/preview/models, or register it with POST /v1/preview/models.`,
    { param: 'model_id' },
  );

/** The cause of an error that the storage had no word for: `model_not_found` if the model was deleted meanwhile, otherwise the error. */
export async function unlessModelGone({ models }: Pick<Storage, 'models'>, id: string, error: unknown) {
  if (error instanceof AppError) return error;
  const isGone = await models.find(id).then(
    (model) => model === null,
    () => false,
  );
  return isGone ? noModel(id) : error;
}
