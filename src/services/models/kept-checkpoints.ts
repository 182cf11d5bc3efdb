// Which checkpoints a job deletes with the one that it makes, by the policy of its model; and that somebody uses one. Several servers
// may serve what another's job would delete, so uses are noted in the store, at most once a minute: what was asked for a little while
// ago stays until the next checkpoint is made. What else needs a checkpoint the store knows (CheckpointStore.listNeeded).
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { Checkpoint } from '#domain/checkpoint';
import type { Model } from '#domain/model';
import { parseModelName } from '#domain/model-name';
import { surplusCheckpoints } from '#domain/save-policy';
import type { KlReference } from '#domain/trajectory';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';

/** Longer than answers and downloads take. */
export const USED_MS = 600_000;
const NOTED_EVERY_MS = 60_000;
/** Notes in memory, of uses that need not be noted again. */
const NOTED_MAX = 10_000;
const PAGE = 100;
/** Deleted with one checkpoint; what is left goes with the next. */
const DELETED_MAX = 1_000;

/** Called by whoever is about to read a checkpoint's files. */
export type UseCheckpoint = (checkpoint: Pick<Checkpoint, 'id'>) => Promise<void>;

export function createUseCheckpoint(
  { checkpoints }: Pick<Storage, 'checkpoints'>,
  { now }: Pick<Clock, 'now'>,
): UseCheckpoint {
  const noted = new Map<string, number>();
  return async ({ id }) => {
    const nowMs = now();
    if (nowMs - (noted.get(id) ?? -Infinity) < NOTED_EVERY_MS) return;
    await checkpoints.noteUse(id, nowMs);
    noted.delete(id);
    noted.set(id, nowMs);
    if (noted.size > NOTED_MAX) noted.delete(noted.keys().next().value!);
  };
}

/** Ids and steps of what goes when `made` is stored. */
export async function planDeletions(
  { models, checkpoints, jobs }: Pick<Storage, 'models' | 'checkpoints' | 'jobs'>,
  modelId: string,
  made: Checkpoint,
  usedSinceMs: number,
): Promise<readonly Checkpoint[]> {
  const policy = await models.findSavePolicy(modelId); // it may be newer than the job
  const model = policy && (await models.find(modelId));
  if (!model) return [];
  const rows = [made];
  for (let after: string | null = null; ;) {
    const page = await checkpoints.list(modelId, { after, limit: PAGE }, 'asc');
    rows.push(...page.rows);
    after = page.rows.at(-1)?.id ?? null;
    if (!page.hasMore || after === null) break;
  }
  const needed = new Set(await checkpoints.listNeeded(modelId, usedSinceMs));
  const references = await jobs.listReferences(model.entity);
  const isReference = (step: number) => references.some((each) => refersTo(each, model, step, made.step));
  return surplusCheckpoints(policy, rows, (step) => needed.has(step) || isReference(step)).slice(0, DELETED_MAX);
}

/**
 * Rows go first: what is left behind by a death in between are bytes that no row refers to, which doctor removes. What was used at the
 * last moment is still there, and stays.
 */
export async function forgetDeleted(
  { storage, blobs, log }: { readonly storage: Storage; readonly blobs: Pick<BlobStore, 'delete'>; readonly log: Log },
  planned: readonly Checkpoint[],
  unload: (checkpointId: string) => Promise<void>,
): Promise<void> {
  const steps: number[] = [];
  for (const { id, step, blobPrefix } of planned) {
    if (await storage.checkpoints.findById(id)) continue;
    try {
      await unload(id);
      await blobs.delete(blobPrefix);
      steps.push(step);
    } catch (error) {
      log.warn('checkpoints.not_removed', { step, err: error }); // the job has succeeded
    }
  }
  if (steps.length > 0) log.info('checkpoints.deleted', { steps });
}

export interface WaitingReference {
  readonly modelId: string;
  readonly reference: KlReference;
}

/** Whether a job that has not ended measures its KL against this step. It starts from `latest` or from a later one. */
function refersTo({ modelId, reference }: WaitingReference, model: Model, step: number, latest: number): boolean {
  if ('checkpointName' in reference) {
    const named = parseModelName(reference.checkpointName);
    return named?.project === model.project && named.name === model.name && named.step === step; // its latest stays anyway
  }
  if (modelId !== model.id) return false;
  return 'step' in reference ? reference.step === step : step >= latest - reference.stepLag;
}
