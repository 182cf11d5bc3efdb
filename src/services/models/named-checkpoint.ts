// Finds a checkpoint by the name that chat requests use, `entity/project/name@N` and its other forms; and the latest one of a model.
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import { parseModelName } from '#domain/model-name';
import type { Storage } from '#storage/storage';

export interface NamedCheckpoint {
  readonly model: Model;
  readonly checkpoint: Checkpoint;
}

/** Returns null if the name is invalid, or the checkpoint does not exist or belongs to another entity. */
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

/** What to say where a model is there, but not the checkpoint that was named; null if there is no such model. */
export async function explainMissing(
  storage: Pick<Storage, 'models' | 'checkpoints'>,
  entity: string,
  name: string,
): Promise<string | null> {
  const parsed = parseModelName(name);
  if (!parsed || (parsed.entity ?? entity) !== entity) return null;
  const model = await storage.models.findByName(entity, parsed.project, parsed.name);
  return model && explainMissingStep(storage, model, parsed.step);
}

/** Step null: the latest. */
export async function explainMissingStep(
  { checkpoints }: Pick<Storage, 'checkpoints'>,
  { id, project, name }: Pick<Model, 'id' | 'project' | 'name'>,
  step: number | null,
): Promise<string> {
  const latest = await checkpoints.findLatest(id);
  if (!latest) return `All checkpoints of the model \`${project}/${name}\` were deleted.`;
  const at = step === null ? '' : ` at step ${step}`;
  return `The model \`${project}/${name}\`, whose latest step is ${latest.step}, has no checkpoint${at}.`;
}

/**
 * The starting point of training; `before`: of the job that makes this step. Throws `checkpoint_not_found` if all were deleted: numbers of
 * deleted steps are not reused.
 */
export async function getLatestCheckpoint(
  { checkpoints }: Pick<Storage, 'checkpoints'>,
  modelId: string,
  before?: number,
): Promise<Checkpoint> {
  const latest = await checkpoints.findLatest(modelId, before);
  if (latest) return latest;
  throw new AppError(
    'checkpoint_not_found',
    `All checkpoints of model ${modelId} were deleted: training cannot continue. Register another model, with from_checkpoint to start from an existing checkpoint.`,
    { param: 'model_id' },
  );
}

/** A step of the model itself, to which its KL is measured. Throws `checkpoint_not_found`. */
export async function getReferenceStep(
  { checkpoints }: Pick<Storage, 'checkpoints'>,
  modelId: string,
  step: number,
): Promise<Checkpoint> {
  const found = await checkpoints.find(modelId, step);
  if (found) return found;
  const message = `The KL reference, step ${step} of the model, does not exist or was deleted.`;
  throw new AppError('checkpoint_not_found', message, { param: 'kl_penalty_reference_step' });
}

/** Throws `checkpoint_not_found`, or `model_conflict` if it has another base model. `param`: the request's field. */
export async function getNamedCheckpoint(
  storage: Pick<Storage, 'models' | 'checkpoints'>,
  entity: string,
  name: string,
  { baseModel, param }: { readonly baseModel: string; readonly param: string },
): Promise<NamedCheckpoint> {
  const found = await findNamedCheckpoint(storage, entity, name);
  if (!found) {
    const why =
      (await explainMissing(storage, entity, name)) ??
      `No checkpoint \`${name}\`. Name it as in chat requests: project/name:step3.`;
    throw new AppError('checkpoint_not_found', why, { param });
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
