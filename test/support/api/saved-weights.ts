// Weights that a training run saved under a name, as the worker leaves them, for tests of servers without a trainer.
// They equal the initial weights of the run.
import { createId } from '#base/ids';
import { tinkerPath, type CheckpointKind } from '#domain/tinker';
import type { TestServer } from './test-server.ts';

/** Returns their path. */
export async function saveWeights(
  { storage, blobs, clock }: Pick<TestServer, 'storage' | 'blobs' | 'clock'>,
  runId: string,
  kind: CheckpointKind,
  name: string,
): Promise<string> {
  const run = (await storage.tinker.findRun(runId))!;
  const began = (await storage.checkpoints.find(run.modelId, 0))!;
  const blobPrefix = `checkpoints/${run.modelId}/tinker-${kind}-${name}`;
  await blobs.putDirectory(blobPrefix, (await blobs.findDirectory(began.blobPrefix))!);
  const about = {
    id: createId(),
    modelId: run.modelId,
    metrics: {},
    blobPrefix,
    fresh: false,
    createdAtMs: clock.now(),
  };
  const { step } = (await storage.checkpoints.add(about))!;
  const named = {
    runId,
    kind,
    name,
    entity: run.entity,
    modelId: run.modelId,
    step,
    sizeBytes: 1,
    metadata: { of: name },
  };
  await storage.tinker.putCheckpoint({ ...named, createdAtMs: clock.now(), expiresAtMs: null, publishedAtMs: null });
  return tinkerPath(named);
}
