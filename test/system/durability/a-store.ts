// A small data directory with one of everything that is stored, as the services write it, and ways to look at all of it.
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createId } from '#base/ids';
import { aPayer } from '../../support/a-caller.ts';
import { silentLog } from '#base/log';
import type { EventType } from '#domain/training-job';
import { sealJson } from '#services/jobs/data/sealed-json';
import { writeGroups } from '#services/jobs/data/stored-groups';
import type { BlobStore } from '#storage/blobs';
import type { NewEvaluation } from '#storage/evaluation-store';
import type { Storage } from '#storage/storage';
import type { StoreConfig } from '../../../src/config/server-config.ts';
import { openBlobs, openStorage } from '../../../src/server/open-stores.ts';

export const NOW = 1_700_000_000_000;
export const quiet = (): void => {};

export const localStore = (dataDirectory: string): StoreConfig => ({ dataDirectory, databaseUrl: null, s3: null });

/** Opens, uses and closes it. */
export async function using<T>(
  config: StoreConfig,
  use: (open: { storage: Storage; blobs: BlobStore }) => Promise<T>,
): Promise<T> {
  const storage = await openStorage(config, silentLog);
  const blobs = await openBlobs(config);
  try {
    return await use({ storage, blobs });
  } finally {
    blobs.close();
    await storage.close();
  }
}

export interface Stored {
  readonly modelId: string;
  /** It succeeded and made checkpoint 1. */
  readonly endedId: string;
  /** With a resume state and a prepared.json. */
  readonly runningId: string;
  /** An SFT job. */
  readonly queuedId: string;
  readonly artifactBlob: string;
  readonly sha256: string;
  readonly logBlob: string;
  /** The job that succeeded; its evaluation is running. */
  readonly answersBlob: string;
  /** With two calls. */
  readonly episodeId: string;
}

/** A new store with data, under `root`. */
export async function makeStore(root: string): Promise<{ config: StoreConfig; stored: Stored }> {
  const config = localStore(join(root, createId()));
  return { config, stored: await fillStore(config) };
}

export async function fillStore(config: StoreConfig): Promise<Stored> {
  return using(config, async ({ storage, blobs }) => {
    const modelId = createId();
    const charge = (blob: string, sizeBytes: number) =>
      storage.accounts.addBlob({ blob, entity: 'team', keyId: 'k', sizeBytes });
    const zero = `checkpoints/${modelId}/0`;
    await charge(zero, (await putAdapter(blobs, zero)).sizeBytes);
    await storage.models.create(
      { id: modelId, entity: 'team', project: 'p', name: 'm', baseModel: 'base', runId: null, createdAtMs: NOW },
      {
        id: createId(),
        modelId,
        step: 0,
        metrics: { 'train/reward': 0.5 },
        blobPrefix: zero,
        fresh: true,
        createdAtMs: NOW,
      },
    );
    const endedId = await submitRl(storage, blobs, modelId, { promptCount: 2, sampleCount: 1 });
    await runToEnd(storage, blobs, modelId, endedId);
    await storage.evaluations.claim('worker', NOW, 1_000_000, ['base']);
    const answersBlob = `evaluations/${modelId}/${endedId}/answers-0.json`;
    for (const blob of [`evaluations/${modelId}/${endedId}/request.json`, answersBlob])
      await charge(blob, (await blobs.put(blob, sealJson({ prompts: [] }))).sizeBytes);
    const episodeId = await playEpisode(storage, modelId);
    const runningId = await submitRl(storage, blobs, modelId);
    await storage.jobs.claim('worker', NOW, 1_000_000, null);
    await storage.events.append(anEvent(runningId, 0, 'training_started'));
    await putAdapter(blobs, `jobs/${runningId}/resume/state-1`);
    await blobs.put(`jobs/${runningId}/resume/current.json`, sealJson({ stepsDone: 1, attempt: 1 }));
    await blobs.put(`jobs/${runningId}/prepared.json`, sealJson({ start: null }));
    const queuedId = createId();
    const bodyBlob = `jobs/${queuedId}/body.jsonl`;
    await charge(bodyBlob, (await blobs.put(bodyBlob, sealJson({ dataset: 'x' }))).sizeBytes);
    await storage.jobs.create({
      id: queuedId,
      type: 'sft',
      modelId,
      entity: 'team',
      keyId: 'k',
      bodyBlob,
      createdAtMs: NOW,
    });

    const artifactBlob = `artifacts/${createId()}`;
    const bytes = Buffer.from('{"messages":[]}\n'.repeat(100));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await charge(artifactBlob, (await blobs.put(artifactBlob, bytes)).sizeBytes);
    const content = { entity: 'team', sha256, md5: null, sizeBytes: bytes.length, blob: artifactBlob };
    await storage.artifacts.addContent(content, aPayer(), NOW);
    const files = [{ path: 'train.jsonl', sha256, sizeBytes: bytes.length }];
    await storage.artifacts.create(
      {
        id: createId(),
        entity: 'team',
        project: 'p',
        name: 'a',
        type: 'dataset',
        metadata: {},
        digest: 'd',
        createdAtMs: NOW,
        files,
      },
      ['best'],
      aPayer(),
    );
    const logBlob = `logs/${modelId}/${createId()}.jsonl`;
    await charge(logBlob, (await writeGroups(blobs, logBlob, { step: 1, split: 'val' }, GROUPS)).sizeBytes);

    await storage.accounts.setLimits('team', { queuedJobs: 9 });
    await storage.apiKeys.create({
      id: createId(),
      entity: 'team',
      name: 'key',
      secretHash: createId(),
      scopes: ['chat'],
      limits: {},
      createdAtMs: NOW,
      lastUsedAtMs: null,
      revokedAtMs: null,
    });
    await storage.idempotency.begin('answered', 'body', 'r', NOW);
    await storage.idempotency.complete('answered', 'answer');
    await storage.idempotency.begin('open', 'body', 'r', Date.now());
    const amounts = { requests: 1, promptTokens: 2, cachedTokens: 0, completionTokens: 3 };
    await storage.usage.add([
      { entity: 'team', keyId: 'k', project: 'p', model: 'm', dayUtc: '2026-01-01', ...amounts },
    ]);
    return { modelId, endedId, runningId, queuedId, artifactBlob, sha256, logBlob, answersBlob, episodeId };
  });
}

const GROUPS = [{ trajectories: [] }, { trajectories: [] }] as unknown as Parameters<typeof writeGroups>[3];

export async function putAdapter(blobs: BlobStore, prefix: string): Promise<{ sizeBytes: number }> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-adapter-'));
  await writeFile(join(directory, 'adapter_config.json'), '{}');
  await writeFile(join(directory, 'adapter_model.safetensors'), `weights of ${prefix}`.repeat(1_000));
  try {
    return await blobs.putDirectory(prefix, directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

export async function submitRl(
  storage: Storage,
  blobs: BlobStore,
  modelId: string,
  evaluation?: NewEvaluation,
): Promise<string> {
  const id = createId();
  const bodyBlob = `jobs/${id}/body.jsonl`;
  const { sizeBytes } = await writeGroups(blobs, bodyBlob, { learningRate: 1e-4 }, GROUPS);
  const job = { id, type: 'rl' as const, modelId, entity: 'team', keyId: 'k', bodyBlob, createdAtMs: NOW };
  await storage.jobs.create({ ...job, ...(evaluation ? { evaluation } : {}) });
  await storage.accounts.addBlob({ blob: bodyBlob, entity: 'team', keyId: 'k', sizeBytes });
  return id;
}

/** Claims the job, the model's oldest, and gives the model its next checkpoint. */
export async function runToEnd(storage: Storage, blobs: BlobStore, modelId: string, id: string): Promise<void> {
  const { attempt } = (await storage.jobs.claim('worker', NOW, 1_000, null))!;
  await storage.events.append(anEvent(id, 0, 'training_started'));
  await storage.events.append(anEvent(id, 1, 'gradient_step'));
  const blobPrefix = `checkpoints/${modelId}/${id}`;
  const stored = await putAdapter(blobs, blobPrefix);
  await storage.accounts.addBlob({ blob: blobPrefix, entity: 'team', keyId: 'k', ...stored });
  const step = ((await storage.checkpoints.findLatest(modelId))?.step ?? -1) + 1;
  await storage.jobs.finish(id, attempt, {
    status: 'succeeded',
    errorMessage: null,
    endedAtMs: NOW,
    event: anEvent(id, 2, 'training_ended'),
    checkpoint: { id: createId(), modelId, step, metrics: {}, blobPrefix, fresh: false, createdAtMs: NOW },
  });
}

const anEvent = (jobId: string, ordinal: number, type: EventType) => ({
  id: createId(),
  jobId,
  ordinal,
  type,
  data: { loss: 1 / 3 },
  createdAtMs: NOW,
});

/** Two calls, the second of which continues the first. */
async function playEpisode(storage: Storage, modelId: string): Promise<string> {
  const of = { id: createId(), entity: 'team', modelId, name: 'played', groupName: 'g', metadata: {} };
  const bounds = { openMax: 9, callsMax: 9, tokensMax: 99 };
  const root = createId();
  for (const [id, parentId, sharedTokenCount] of [
    [root, null, 0],
    [createId(), root, 1],
  ] as const) {
    const call = {
      ...{ id, answerId: id, model: 'team/p/m', policyStep: 0, isTrainable: true, isCut: false, reshapedBy: [] },
      ...{ parentId, parentChoice: null, sharedTokenCount, promptTokenCount: 1, createdAtMs: NOW },
      choices: [{ tokenCount: 1, finishReason: 'stop', isConstrained: false }],
      tokens: Uint8Array.of(1, 0, 0, 0, 0xff),
      content: Uint8Array.of(0, 1, 2),
    };
    await storage.episodes.capture(call, of, bounds, aPayer());
  }
  const end = { outcome: 'completed' as const, reward: 0.5, metrics: {}, turnRewards: {} };
  await storage.episodes.reward(of.id, end, NOW);
  return of.id;
}
