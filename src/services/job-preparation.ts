// What an RL job fixes before its first gradient step: log-probabilities of other policies and the scale of its learning
// rate. Kept in the blob store until the job ends, because checkpoints and metrics that they came from may change under a
// running job, and a job that is resumed must go on with the same numbers.
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import type { TrainingJob } from '#domain/training-job';
import type { KlReference } from '#domain/trajectory';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import type { TrainingEngine } from '#engine/training-engine';
import { rewardSpreadTrend } from '#training/learning-rate';
import { asksOtherPolicies, computeLogprobs, NO_OTHER_POLICIES, type OtherPolicies } from '#training/other-policies';
import { DEFAULT_LORA } from '#training/rl-config';
import type { RlPlan } from '#training/rl-plan';
import { getNamedCheckpoint } from './named-checkpoint.ts';
import { openSealedJson, sealJson } from './sealed-json.ts';

export interface Preparation {
  readonly policies: OtherPolicies;
  readonly learningRateScale: number;
}

export interface PreparationDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly engine: TrainingEngine;
  /** Before each row: whether the job is still wanted. */
  readonly goesOn: () => Promise<boolean>;
}

export interface PreparedJob {
  readonly job: TrainingJob;
  readonly model: Model;
  readonly plan: RlPlan;
  readonly klReference: KlReference | null;
  /** Null: the model has none, the job starts from a fresh adapter. */
  readonly start: Checkpoint | null;
}

const preparedBlob = (jobId: string): string => `jobs/${jobId}/prepared.json`;

/** Null: `goesOn` said no. */
export async function prepareJob(
  request: PreparedJob,
  deps: PreparationDeps,
  signal: AbortSignal,
): Promise<Preparation | null> {
  const { job, plan } = request;
  const { loss, scalesLearningRateByRewardSpread: scales } = plan.config;
  if (!asksOtherPolicies(loss) && !scales) return { policies: NO_OTHER_POLICIES, learningRateScale: 1 };
  const saved = await deps.blobs.find(preparedBlob(job.id));
  const opened = saved && openSealedJson<PreparationJson>(saved); // damaged: computed again
  if (opened) return fromJson(opened.value);
  const start = loss.precalculates ? await logprobsAt(request.start, plan, deps, signal) : null;
  const reference = loss.kl ? await logprobsAt(await referenceOf(request, deps), plan, deps, signal) : null;
  if (start === 'stopped' || reference === 'stopped') return null;
  const learningRateScale = scales ? rewardSpreadTrend(await spreadsOf(request.model, deps)) : 1;
  const preparation = { policies: { start, reference }, learningRateScale };
  await deps.blobs.put(preparedBlob(job.id), sealJson(toJson(preparation)));
  return preparation;
}

export const forgetPreparation = (blobs: BlobStore, jobId: string): Promise<void> => blobs.delete(preparedBlob(jobId));

/** `checkpoint` null: the base model, whose fresh adapter changes nothing. */
async function logprobsAt(
  checkpoint: Checkpoint | null,
  { rows, config }: RlPlan,
  { blobs, engine, goesOn }: PreparationDeps,
  signal: AbortSignal,
): Promise<Float32Array[] | 'stopped'> {
  const from = checkpoint && (await blobs.openDirectory(checkpoint.blobPrefix));
  if (checkpoint && from === null) {
    throw new AppError('bad_model_files', `The files of checkpoint ${checkpoint.step} are gone from the blob store.`);
  }
  const session = await engine.open({ from, lora: DEFAULT_LORA, ...headLimit(config.headTokensMax) }, signal);
  try {
    return (await computeLogprobs(session, rows, goesOn)) ?? 'stopped';
  } finally {
    await session.close();
  }
}

export const headLimit = (headTokensMax: number | null) => (headTokensMax === null ? {} : { headTokensMax });

async function referenceOf(
  { model, klReference, start }: PreparedJob,
  { storage }: PreparationDeps,
): Promise<Checkpoint | null> {
  if (klReference === null) return null;
  if ('checkpointName' in klReference) {
    const expected = { baseModel: model.baseModel, param: 'kl_ref_adapter_path' };
    return (await getNamedCheckpoint(storage, model.entity, klReference.checkpointName, expected)).checkpoint;
  }
  const step = 'step' in klReference ? klReference.step : Math.max(0, (start?.step ?? 0) - klReference.stepLag);
  const checkpoint = await storage.checkpoints.find(model.id, step);
  if (checkpoint) return checkpoint;
  throw new AppError('checkpoint_not_found', `The KL reference, step ${step} of the model, does not exist (any more).`);
}

/** Of the model's checkpoints, those that know the spread of their rewards. */
async function spreadsOf(model: Model, { storage }: PreparationDeps): Promise<{ step: number; spread: number }[]> {
  const points: { step: number; spread: number }[] = [];
  for (let after: string | null = null; ;) {
    const { rows, hasMore } = await storage.checkpoints.list(model.id, { after, limit: 100 }, 'asc');
    for (const { step, metrics } of rows) {
      const spread = metrics['train/reward_std_dev'];
      if (spread !== undefined) points.push({ step, spread });
    }
    if (!hasMore) return points;
    after = rows.at(-1)!.id;
  }
}

/** Exact: float32 as base64, because JSON has no NaN. */
interface PreparationJson {
  readonly start: string[] | null;
  readonly reference: string[] | null;
  readonly learningRateScale: number;
}

function toJson({ policies, learningRateScale }: Preparation): PreparationJson {
  const encode = (rows: readonly Float32Array[] | null) =>
    rows && rows.map((row) => Buffer.from(row.buffer, row.byteOffset, row.byteLength).toString('base64'));
  return { start: encode(policies.start), reference: encode(policies.reference), learningRateScale };
}

function fromJson({ start, reference, learningRateScale }: PreparationJson): Preparation {
  const decode = (rows: string[] | null) =>
    rows && rows.map((row) => new Float32Array(new Uint8Array(Buffer.from(row, 'base64')).buffer));
  return { policies: { start: decode(start), reference: decode(reference) }, learningRateScale };
}
