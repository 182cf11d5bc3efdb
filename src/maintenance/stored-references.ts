// Which blobs the rows refer to: what they are, who owns them, and what the owner can do if they are lost. stored-checks.ts checks
// whether they exist; doctor.ts and backup.ts decide what that means.
import { episodeRows, jobOfBlob, jobRecordBlob, parseBlobOwner } from '#domain/blob-names';
import { isFinished } from '#domain/training-job';
import type { StoredBlob } from '#storage/account-store';
import type { Inventory, InventoriedCheckpoint, InventoriedEpisode, InventoriedJob } from '#storage/inventory';

/** How its bytes are known to be those that were stored. */
export type Form =
  | { readonly form: 'directory' | 'groups' | 'sealed' | 'record' }
  | { readonly form: 'content'; readonly sha256: string; readonly sizeBytes: number };

export interface StoredReference {
  /** A name, or the prefix of a directory. */
  readonly blob: string;
  readonly form: Form;
  /** For messages. */
  readonly owner: string;
  readonly entity: string;
  /** Empty if unknown. */
  readonly keyId: string;
  /** False: the body of a finished job, which is never read again. */
  readonly needed: boolean;
  readonly remedy: string;
}

export interface StoredRows {
  /** By id. */
  readonly models: ReadonlyMap<string, string>;
  readonly checkpoints: readonly InventoriedCheckpoint[];
  readonly jobs: ReadonlyMap<string, InventoriedJob>;
  readonly contentCount: number;
  /** By blob. */
  readonly references: ReadonlyMap<string, StoredReference>;
  readonly ledger: ReadonlyMap<string, StoredBlob>;
  /** By the name under which their rows are on an account. */
  readonly episodes: ReadonlyMap<string, InventoriedEpisode>;
}

const RESTORE = 'restore it from a backup';

export async function readStoredRows(inventory: Inventory): Promise<StoredRows> {
  const models = new Map<string, string>();
  for await (const { id, name } of inventory.models()) models.set(id, name);
  const jobs = new Map<string, InventoriedJob>();
  for await (const job of inventory.jobs()) jobs.set(job.id, job);
  const checkpoints: InventoriedCheckpoint[] = [];
  for await (const checkpoint of inventory.checkpoints()) checkpoints.push(checkpoint);
  const ledger = new Map<string, StoredBlob>();
  for await (const stored of inventory.storedBlobs()) ledger.set(stored.blob, stored);

  const episodes = new Map<string, InventoriedEpisode>();
  for await (const episode of inventory.episodes()) episodes.set(episodeRows(episode.id), episode);

  const nameOf = (modelId: string): string => models.get(modelId) ?? modelId;
  const references = checkpoints.map(({ blobPrefix, modelId, entity, step }): StoredReference => {
    const keyId = jobs.get(jobOfBlob(blobPrefix))?.keyId ?? ledger.get(blobPrefix)?.keyId ?? '';
    const owner = `checkpoint ${step} of ${nameOf(modelId)}`;
    const remedy = `${RESTORE}, or delete that checkpoint`;
    return { blob: blobPrefix, form: { form: 'directory' }, owner, entity, keyId, needed: true, remedy };
  });
  for (const { id, type, modelId, entity, keyId, status, bodyBlob } of jobs.values()) {
    if (bodyBlob === '') continue; // older than such data is kept
    references.push({
      blob: bodyBlob,
      form: { form: type === 'rl' ? 'groups' : 'sealed' },
      owner: `data of job ${id} of ${nameOf(modelId)}`,
      entity,
      keyId,
      needed: !isFinished(status),
      remedy: `${RESTORE}, or cancel the job and submit it again`,
    });
  }
  for await (const { id, entity, keyId, blob } of inventory.responses()) {
    const remedy = `${RESTORE}, or delete that response`;
    references.push({ blob, form: { form: 'sealed' }, owner: `response ${id}`, entity, keyId, needed: true, remedy });
  }
  let contentCount = 0;
  for await (const { blob, entity, sha256, sizeBytes } of inventory.artifactContents()) {
    contentCount++;
    const form: Form = { form: 'content', sha256, sizeBytes };
    const keyId = ledger.get(blob)?.keyId ?? '';
    const remedy = `${RESTORE}, or delete the artifact versions that contain it and upload them again`;
    references.push({ blob, form, owner: `artifact file ${sha256} of ${entity}`, entity, keyId, needed: true, remedy });
  }
  for (const { blob, entity, keyId } of ledger.values()) {
    const named = parseBlobOwner(blob);
    const job = jobs.get(jobOfBlob(blob));
    if (job && blob === jobRecordBlob(job.id)) {
      const owner = `token record of job ${job.id} of ${nameOf(job.modelId)}`;
      references.push({ blob, form: { form: 'record' }, owner, entity, keyId, needed: true, remedy: RESTORE });
    }
    if (named?.kind === 'evaluation' && jobs.has(named.jobId)) {
      const owner = `evaluation of job ${named.jobId} of ${nameOf(named.modelId)}`;
      references.push({ blob, form: { form: 'sealed' }, owner, entity, keyId, needed: true, remedy: RESTORE });
    }
    if (named?.kind !== 'log' || !models.has(named.modelId)) continue;
    const owner = `logged trajectories of ${nameOf(named.modelId)}`;
    const remedy = `${RESTORE}, or log them again`;
    references.push({ blob, form: { form: 'groups' }, owner, entity, keyId, needed: true, remedy });
  }
  return {
    models,
    checkpoints,
    jobs,
    contentCount,
    references: new Map(references.map((reference) => [reference.blob, reference])),
    ledger,
    episodes,
  };
}

/** What an unfinished job keeps: its progress, and the checkpoint that it is about to create. The same for a training run. */
export function isUnderWay(blob: string, { jobs, models }: Pick<StoredRows, 'jobs' | 'models'>): boolean {
  const owner = parseBlobOwner(blob);
  if (owner?.kind === 'tinker') return models.has(owner.modelId); // states, requests and results of a run, as long as its model
  const job = jobs.get(jobOfBlob(blob));
  return job !== undefined && !isFinished(job.status);
}
