// A model's checkpoint read as an artifact: type `lora`, aliases `stepN` and `latest`, the files that PEFT loads.
import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock';
import { CHECKPOINT_TYPE, type ArtifactFile, type ArtifactName, type ArtifactVersion } from '#domain/artifact';
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import type { Listing, Order, Page } from '#domain/page';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { findChecksums } from '#storage/directory-checksums';
import { createUseCheckpoint } from '../models/kept-checkpoints.ts';
import { checked, damagedFile, type OpenArtifact } from './artifact-content.ts';
import { stepOf, type NamedVersion } from './artifact-name.ts';
import { digestOf, type Digests } from '#base/stream-digest';

/** Files that other programs can load; optimizer state is not offered. */
export const PEFT_FILES = ['adapter_config.json', 'adapter_model.safetensors'];

/** Metadata that the server sets for every checkpoint; the owner's metadata is stored beside it. */
export const OWN_METADATA = ['wandb.base_model', 'metrics'];

/** All return null if there is none. The caller checks that the model belongs to its entity. */
export interface CheckpointArtifacts {
  find(named: NamedVersion): Promise<OpenArtifact | null>;
  findById(id: string): Promise<OpenArtifact | null>;
  /** The checkpoints of a model, by step. Null: no model has the name. */
  list(name: ArtifactName, page: Page, order: Order): Promise<Listing<OpenArtifact> | null>;
}

/** Checkpoints never change, so sizes and digests of their files are computed once. */
const DIGESTS_MAX = 1_000;

type PeftFile = ArtifactFile & Digests;

export function createCheckpointArtifacts({
  storage,
  blobs,
  clock,
}: {
  storage: Storage;
  blobs: BlobStore;
  clock: Clock;
}): CheckpointArtifacts {
  const useCheckpoint = createUseCheckpoint(storage, clock);
  const known = new Map<string, readonly PeftFile[]>();

  async function stream({ blobPrefix, step }: Checkpoint, name: string, path: string, from = 0) {
    const content = PEFT_FILES.includes(path) ? await blobs.stream(`${blobPrefix}/${path}`, from) : null;
    if (content) return content;
    throw new AppError('artifact_not_found', `${name}:step${step} has no file ${path}.`);
  }

  async function filesOf(checkpoint: Checkpoint, name: string): Promise<readonly PeftFile[]> {
    const before = known.get(checkpoint.id);
    if (before) return before;
    const checksums = await findChecksums(blobs, checkpoint.blobPrefix);
    const files: PeftFile[] = [];
    for (const path of PEFT_FILES) files.push({ path, ...(await digestOf(await stream(checkpoint, name, path))) });
    for (const file of files) refuseDamage(file, checksums);
    if (known.size >= DIGESTS_MAX) known.delete(known.keys().next().value!);
    known.set(checkpoint.id, files);
    return files;
  }

  async function open(model: Model, checkpoint: Checkpoint, latest: Checkpoint | null): Promise<OpenArtifact> {
    const { entity, project, name } = model;
    const { id, step, createdAtMs } = checkpoint;
    const files = await filesOf(checkpoint, name);
    const notes = await storage.checkpoints.findMetadata(id);
    const artifact: ArtifactVersion = {
      id,
      entity,
      project,
      name,
      version: step,
      type: CHECKPOINT_TYPE,
      metadata: { ...notes, 'wandb.base_model': model.baseModel, metrics: checkpoint.metrics },
      aliases: [...(step === latest?.step ? ['latest'] : []), `step${step}`],
      files: files.map(({ path, sizeBytes, sha256 }) => ({ path, sizeBytes, sha256 })),
      digest: createHash('sha256').update(JSON.stringify(files)).digest('hex'),
      createdAtMs,
    };
    return {
      artifact,
      isLatest: step === latest?.step,
      md5s: async () => new Map(files.map(({ path, md5 }) => [path, md5])),
      open: async (path, from = 0) => {
        await useCheckpoint(checkpoint);
        const content = await stream(checkpoint, name, path, from);
        const file = files.find((each) => each.path === path)!;
        return { file, content: checked(file, content, from) };
      },
    };
  }

  return {
    async find(named) {
      const { entity, project, name } = named;
      const step = stepOf(named.version);
      const model = step === undefined ? null : await storage.models.findByName(entity, project, name);
      if (!model) return null;
      const latest = await storage.checkpoints.findLatest(model.id);
      const checkpoint = step === null ? latest : await storage.checkpoints.find(model.id, step!);
      return checkpoint && open(model, checkpoint, latest);
    },

    async findById(id) {
      const checkpoint = await storage.checkpoints.findById(id);
      const model = checkpoint && (await storage.models.find(checkpoint.modelId));
      return model && open(model, checkpoint, await storage.checkpoints.findLatest(model.id));
    },

    async list({ entity, project, name }, page, order) {
      const model = await storage.models.findByName(entity, project, name);
      if (!model) return null;
      const latest = await storage.checkpoints.findLatest(model.id);
      const { rows, hasMore } = await storage.checkpoints.list(model.id, page, order);
      const opened: OpenArtifact[] = [];
      for (const row of rows) opened.push(await open(model, row, latest));
      return { rows: opened, hasMore };
    },
  };
}

/** Throws `damaged_data` if a file of a checkpoint differs from its list of digests; checkpoints older than such lists are not checked. */
export function refuseDamage(
  { path, sha256 }: Pick<ArtifactFile, 'path' | 'sha256'>,
  checksums: Awaited<ReturnType<typeof findChecksums>>,
): void {
  const stored = checksums?.[path] ?? sha256;
  if (sha256 !== stored) throw damagedFile(path, stored);
}
