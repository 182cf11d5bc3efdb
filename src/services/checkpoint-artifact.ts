// A model's checkpoint read as an artifact: type `lora`, aliases `stepN` and `latest`, the files that PEFT loads.
import { createHash } from 'node:crypto';
import type { ArtifactVersion } from '#domain/artifact';
import { AppError } from '#domain/errors';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { stepOf, type NamedVersion } from './artifact-name.ts';
import type { OpenArtifact } from './artifacts.ts';
import { digestOf } from './stream-digest.ts';

/** What others can load; optimizer state stays here. */
export const PEFT_FILES = ['adapter_config.json', 'adapter_model.safetensors'];

/** Null: no model of that name has that step. The caller has looked at whose it is. */
export async function findCheckpointArtifact(
  { storage, blobs }: { storage: Storage; blobs: BlobStore },
  named: NamedVersion,
): Promise<OpenArtifact | null> {
  const { entity, project, name } = named;
  const step = stepOf(named.version);
  const model = step === undefined ? null : await storage.models.findByName(entity, project, name);
  if (!model) return null;
  const latest = await storage.checkpoints.findLatest(model.id);
  const checkpoint = step === null ? latest : await storage.checkpoints.find(model.id, step!);
  if (!checkpoint) return null;

  async function stream(path: string): Promise<AsyncIterable<Uint8Array>> {
    const content = PEFT_FILES.includes(path) ? await blobs.stream(`${checkpoint!.blobPrefix}/${path}`) : null;
    if (content) return content;
    throw new AppError('artifact_not_found', `${name}:step${checkpoint!.step} has no file ${path}.`);
  }

  const files = await Promise.all(PEFT_FILES.map(async (path) => ({ path, ...(await digestOf(await stream(path))) })));
  const artifact: ArtifactVersion = {
    id: checkpoint.id,
    entity,
    project,
    name,
    version: checkpoint.step,
    type: 'lora',
    metadata: { 'wandb.base_model': model.baseModel, metrics: checkpoint.metrics },
    aliases: [...(checkpoint.step === latest?.step ? ['latest'] : []), `step${checkpoint.step}`],
    files,
    digest: createHash('sha256').update(JSON.stringify(files)).digest('hex'),
    createdAtMs: checkpoint.createdAtMs,
  };
  return {
    artifact,
    open: async (path) => {
      const content = await stream(path);
      return { file: files.find((file) => file.path === path)!, content };
    },
  };
}
