// Adapters given at the server's start become checkpoints of models: step 0 is the base model as always, and the adapter is the next
// step. Adapters are compared by their bytes: an existing one is not stored again, and a changed one becomes the next step, because
// a step never changes. services/artifacts/adapter-commit.ts defines what an adapter must contain.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readBoundedText } from '#base/bounded-file';
import type { Clock } from '#base/clock';
import { fileChunks } from '#base/file-chunks';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import { digestOf } from '#base/stream-digest';
import { SCOPES } from '#domain/api-key';
import { CHECKPOINT_TYPE, type ArtifactFile } from '#domain/artifact';
import { uploadedCheckpointBlob } from '#domain/blob-names';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import type { CommitAdapter } from '#services/artifacts/adapter-commit';
import { PEFT_FILES } from '#services/artifacts/checkpoint-artifact';
import type { BaseModel, BaseModels } from '#services/models/base-models';
import type { Models } from '#services/models/models';
import type { BlobStore } from '#storage/blobs';
import { findChecksums } from '#storage/directory-checksums';
import type { Storage } from '#storage/storage';
import type { ForeignAdapter } from '#config/server-config';
import type { HostedModels } from './hosted-models.ts';

export interface ServedAdaptersDeps {
  readonly storage: Pick<Storage, 'models' | 'checkpoints'>;
  readonly blobs: Pick<BlobStore, 'find'>;
  readonly hosted: Pick<HostedModels, 'baseModels'>;
  readonly models: Pick<Models, 'register'>;
  readonly commitAdapter: CommitAdapter;
  readonly clock: Clock;
  readonly log: Log;
}

/** Throws an error that names the adapter and what is wrong with it. */
export async function serveAdapters(adapters: readonly ForeignAdapter[], deps: ServedAdaptersDeps): Promise<void> {
  for (const adapter of adapters) await serveAdapter(adapter, deps);
}

async function serveAdapter(adapter: ForeignAdapter, deps: ServedAdaptersDeps): Promise<void> {
  const { storage, models, commitAdapter, clock, log } = deps;
  const { entity, project, name, directory } = adapter;
  const files = await filesIn(directory);
  const served = { model: `${project}/${name}`, directory };
  const before = await storage.models.findByName(entity, project, name);
  if (before && (await isLastOfThose(before, files, deps))) return log.info('adapter.known', served);
  const baseModel = await baseModelOf(directory, deps.hosted.baseModels);
  await check(directory, deps.hosted.baseModels.get(baseModel)); // before the model is created
  const caller: Caller = { entity, keyId: 'operator', scopes: SCOPES, limits: {} };
  const registration = { entity, project, name, baseModel, returnExisting: true, fromCheckpoint: null };
  const { model } = await models.register(caller, registration, createId());
  const draft = {
    ...{ id: createId(), entity, project, type: CHECKPOINT_TYPE, metadata: {}, aliases: [] },
    ...{ name: `--adapter ${directory}`, run: null, manifest: null, createdAtMs: clock.now() },
  };
  await commitAdapter(caller, model, draft, files, ({ path }) => Promise.resolve(fileChunks(join(directory, path))));
  log.info('adapter.served', served);
}

async function check(directory: string, base: BaseModel): Promise<void> {
  try {
    await base.checkAdapter(directory);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw refused(directory, error.message.replaceAll(`${directory}/`, ''), error);
  }
}

const refused = (directory: string, why: string, cause?: unknown) =>
  new AppError('bad_model_files', `--adapter ${directory}: ${why}`, { cause });

async function filesIn(directory: string): Promise<ArtifactFile[]> {
  const files: ArtifactFile[] = [];
  for (const path of PEFT_FILES) {
    const info = await stat(join(directory, path)).catch(() => null);
    if (!info?.isFile())
      throw refused(directory, `it has no ${path}. Pass the directory that PEFT's save_pretrained wrote.`);
    const { sha256 } = await digestOf(fileChunks(join(directory, path)));
    files.push({ path, sizeBytes: info.size, sha256 });
  }
  return files;
}

/** Whether the last checkpoint that was not trained here has exactly these bytes. */
async function isLastOfThose(
  { id: modelId }: Model,
  files: readonly ArtifactFile[],
  { storage, blobs }: ServedAdaptersDeps,
): Promise<boolean> {
  const foreign = uploadedCheckpointBlob(modelId, '');
  for (let after: string | null = null; ;) {
    const { rows, hasMore } = await storage.checkpoints.list(modelId, { after, limit: 100 }, 'desc');
    const found = rows.find(({ blobPrefix }) => blobPrefix.startsWith(foreign));
    if (found) {
      const stored = await findChecksums(blobs, found.blobPrefix);
      return files.every(({ path, sha256 }) => stored?.[path] === sha256);
    }
    if (!hasMore) return false;
    after = rows.at(-1)!.id;
  }
}

/** The model that the adapter names; if no model has that id, the server's only model. Whether it fits is checked later. */
async function baseModelOf(directory: string, baseModels: BaseModels): Promise<string> {
  const json = await readBoundedText(join(directory, 'adapter_config.json')).catch(() => '{}');
  const hosted = baseModels.list().map(({ id }) => id);
  if (hosted.length === 1) return hosted[0]!;
  const named = nameIn(json);
  const id = hosted.find((each) => each === named || named.endsWith(`/${each}`));
  if (id !== undefined) return id;
  throw refused(
    directory,
    `its adapter_config.json has the base_model_name_or_path ${JSON.stringify(named)}, which this server does not host. Change it to the model that it adapts: ${hosted.join(', ')}.`,
  );
}

function nameIn(json: string): string {
  try {
    const { base_model_name_or_path: name } = JSON.parse(json) as { base_model_name_or_path?: unknown };
    return typeof name === 'string' ? name : '';
  } catch {
    return ''; // the caller's check reports it
  }
}
