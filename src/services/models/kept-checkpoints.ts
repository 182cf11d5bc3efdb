// Which checkpoints a job deletes when it stores its own, by the model's save policy; and records of their use. A checkpoint that one
// server would delete may be in use on another, so uses are recorded in the store, at most once a minute: what was used recently stays
// until the next checkpoint is made. The store knows everything else that needs a checkpoint (CheckpointStore.listNeeded).
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
/** Recent uses in memory, which need not be recorded again. */
const NOTED_MAX = 10_000;
const PAGE = 100;
/** Maximum number deleted with one checkpoint; the rest is deleted with the next. */
const DELETED_MAX = 1_000;

/** Call this before reading a checkpoint's files. */
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

/** Ids and steps of the checkpoints to delete when `made` is stored. */
export async function planDeletions(
  { models, checkpoints, jobs }: Pick<Storage, 'models' | 'checkpoints' | 'jobs'>,
  modelId: string,
  made: Checkpoint,
  usedSinceMs: number,
): Promise<readonly Checkpoint[]> {
  const policy = await models.findSavePolicy(modelId); // may have changed since the job began
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
  // A later step may have been uploaded meanwhile: what the job made stays until the next one all the same.
  const isNeeded = (step: number) => step === made.step || needed.has(step) || isReference(step);
  return surplusCheckpoints(policy, rows, isNeeded).slice(0, DELETED_MAX);
}

/**
 * Rows go first: a crash in between leaves only bytes that no row refers to, which doctor removes. A checkpoint that was used at the last
 * moment still has its row, and stays.
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
      log.warn('checkpoints.not_removed', { step, err: error }); // the job has succeeded all the same
    }
  }
  if (steps.length > 0) log.info('checkpoints.deleted', { steps });
}

export interface WaitingReference {
  readonly modelId: string;
  readonly reference: KlReference;
}

/** Whether an unfinished job uses this step as its KL reference. The job starts from `latest` or a later step. */
function refersTo({ modelId, reference }: WaitingReference, model: Model, step: number, latest: number): boolean {
  if ('checkpointName' in reference) {
    const named = parseModelName(reference.checkpointName);
    return named?.project === model.project && named.name === model.name && named.step === step; // the latest step stays anyway
  }
  if (modelId !== model.id) return false;
  return 'step' in reference ? reference.step === step : step >= latest - reference.stepLag;
}
