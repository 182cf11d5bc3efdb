// A checkpoint by the name that chat requests use, `entity/project/name@N` and its other forms; and the latest of a model.
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import { parseModelName } from '#domain/model-name';
import type { Storage } from '#storage/storage';

export interface NamedCheckpoint {
  readonly model: Model;
  readonly checkpoint: Checkpoint;
}

/** Null: not such a name, or another entity's, or not there. */
export async function findNamedCheckpoint(
  { models, checkpoints }: Pick<Storage, 'models' | 'checkpoints'>,
  entity: string,
  name: string,
): Promise<NamedCheckpoint | null> {
  const parsed = parseModelName(name);
  if (!parsed || (parsed.entity ?? entity) !== entity) return null;
  const model = await models.findByName(entity, parsed.project, parsed.name);
  if (!model) return null;
  const { step } = parsed;
  const checkpoint = step === null ? await checkpoints.findLatest(model.id) : await checkpoints.find(model.id, step);
  return checkpoint && { model, checkpoint };
}

/** What training goes on from. Throws `checkpoint_not_found` where all were deleted: a step that was deleted is not made again. */
export async function getLatestCheckpoint(
  { checkpoints }: Pick<Storage, 'checkpoints'>,
  modelId: string,
): Promise<Checkpoint> {
  const latest = await checkpoints.findLatest(modelId);
  if (latest) return latest;
  throw new AppError(
    'checkpoint_not_found',
    `All checkpoints of model ${modelId} were deleted: there is nothing to go on from. Register another model; with from_checkpoint it starts from a checkpoint that is left.`,
    { param: 'model_id' },
  );
}

/** Throws `checkpoint_not_found`, `model_conflict` where its base model is another. `param`: the request's field. */
export async function getNamedCheckpoint(
  storage: Pick<Storage, 'models' | 'checkpoints'>,
  entity: string,
  name: string,
  { baseModel, param }: { readonly baseModel: string; readonly param: string },
): Promise<NamedCheckpoint> {
  const found = await findNamedCheckpoint(storage, entity, name);
  if (!found) {
    throw new AppError(
      'checkpoint_not_found',
      `No checkpoint \`${name}\`. Name it as in chat requests: ${entity}/project/name@step.`,
      { param },
    );
  }
  if (found.model.baseModel !== baseModel) {
    throw new AppError(
      'model_conflict',
      `\`${name}\` is an adapter of \`${found.model.baseModel}\`, not of \`${baseModel}\`.`,
      { param },
    );
  }
  return found;
}
