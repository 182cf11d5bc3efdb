// Values that an RL job fixes before its first gradient step: log-probabilities of other policies, the scale of its learning rate, and
// the mismatch between trainer and sampler. Kept in the blob store until the job ends, because the checkpoints and metrics they come
// from may change meanwhile, and a resumed job must continue with the same numbers.
import { jobPreparationBlob } from '#domain/blob-names';
import type { Checkpoint } from '#domain/checkpoint';
import type { Model } from '#domain/model';
import type { TrainingJob } from '#domain/training-job';
import type { KlReference } from '#domain/trajectory';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import type { TrainingEngine } from '#engine/training-engine';
import type { PackedRow } from '#training/packing';
import { rewardSpreadTrend } from '#training/learning-rate';
import {
  asksComparisonPolicies,
  computeLogprobs,
  NO_COMPARISON_POLICIES,
  type ComparisonPolicies,
} from '#training/comparison-policies';
import { DEFAULT_LORA } from '#domain/lora-config';
import type { RlPlan } from '#training/rl-plan';
import { COMPARED_TOKENS, measureMismatch, type SamplerMismatch } from '#training/sampler-mismatch';
import { tokenStaleness } from '#training/staleness';
import { getCheckpointFiles } from '../../models/checkpoint-files.ts';
import { getNamedCheckpoint, getReferenceStep } from '../../models/named-checkpoint.ts';
import { parseSealedJson, sealJson } from '../data/sealed-json.ts';

export interface Preparation {
  readonly policies: ComparisonPolicies;
  readonly learningRateScale: number;
  /** Null: both engines are exact, or the sampled log-probabilities are unknown. */
  readonly mismatch: SamplerMismatch | null;
}

export interface PreparationDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly engine: TrainingEngine;
  /** Called before each call of the session: whether the job is still wanted. */
  readonly goesOn: () => Promise<boolean>;
}

export interface PreparedJob {
  readonly job: TrainingJob;
  readonly model: Model;
  readonly plan: RlPlan;
  /** Digest of the plan's rows (rows-digest.ts). */
  readonly rowsDigest: string;
  readonly klReference: KlReference | null;
  readonly start: Checkpoint;
  /** Sampler and trainer compute the same log-probabilities, so nothing needs to be measured. */
  readonly exactLogprobs: boolean;
}

/** The number of latest steps that the trend is fitted to. */
const TREND_STEPS_MAX = 10_000;

/** Null: `goesOn` returned false. */
export async function prepareJob(
  request: PreparedJob,
  deps: PreparationDeps,
  signal: AbortSignal,
): Promise<Preparation | null> {
  const { job, plan, rowsDigest, exactLogprobs } = request;
  const { loss, scalesLearningRateByRewardSpread: scales } = plan.config;
  if (!asksComparisonPolicies(loss) && !scales && exactLogprobs) return NOTHING_ASKED;
  const saved = await deps.blobs.find(jobPreparationBlob(job.id));
  const opened = saved && parseSealedJson<PreparationJson>(saved); // null if damaged: then computed again
  if (opened && opened.value.rowsDigest === rowsDigest) {
    const prepared = fromJson(opened.value);
    // An earlier attempt may have had other engines, and with them other defaults.
    if ((prepared.policies.start !== null) === loss.precalculates) return prepared;
  }
  const compared = exactLogprobs ? [] : comparedRows(plan.rows);
  const asked = loss.precalculates ? plan.rows : compared;
  const start = asked.length > 0 ? await logprobsAt(request.start, asked, plan, deps, signal) : [];
  const reference = loss.kl ? await logprobsAt(await referenceOf(request, deps), plan.rows, plan, deps, signal) : null;
  if (start === 'stopped' || reference === 'stopped') return null;
  const learningRateScale = scales ? rewardSpreadTrend(await spreadsOf(request.model, deps)) : 1;
  const preparation: Preparation = {
    policies: { start: loss.precalculates ? start : null, reference },
    learningRateScale,
    mismatch: measureMismatch(
      compared.map(({ row, members }, i) => ({
        sampled: row.inputs['oldLogprobs']!,
        trainer: start[i]!,
        staleness: tokenStaleness(members, request.start.step),
      })),
      loss,
    ),
  };
  await deps.blobs.put(jobPreparationBlob(job.id), sealJson(toJson(preparation, rowsDigest)));
  return preparation;
}

const NOTHING_ASKED: Preparation = { policies: NO_COMPARISON_POLICIES, learningRateScale: 1, mismatch: null };

/** The first rows with enough tokens of known log-probability; their order is random. */
function comparedRows(rows: readonly PackedRow[]): readonly PackedRow[] {
  let tokens = 0;
  const enough = rows.findIndex((row) => (tokens += knownTokens(row)) >= COMPARED_TOKENS);
  if (tokens === 0) return [];
  return enough === -1 ? rows : rows.slice(0, enough + 1);
}

const knownTokens = ({ members }: PackedRow): number =>
  members.reduce((sum, { trained, logprobs }) => sum + trained.filter((one, i) => one && logprobs[i]! <= 0).length, 0);

export const forgetPreparation = (blobs: BlobStore, jobId: string): Promise<void> =>
  blobs.delete(jobPreparationBlob(jobId));

/** `checkpoint` null: the base model, whose fresh adapter changes nothing. */
async function logprobsAt(
  checkpoint: Checkpoint | null,
  rows: readonly PackedRow[],
  { config }: RlPlan,
  { blobs, engine, goesOn }: PreparationDeps,
  signal: AbortSignal,
): Promise<Float32Array[] | 'stopped'> {
  const from = checkpoint && (await getCheckpointFiles(blobs, checkpoint));
  const { headTokensMax } = config;
  const session = await engine.open({ from, lora: DEFAULT_LORA, resetOptimizer: false, headTokensMax }, signal);
  try {
    return (await computeLogprobs(session, rows, goesOn)) ?? 'stopped';
  } finally {
    await session.close();
  }
}

async function referenceOf(
  { model, klReference, start }: PreparedJob,
  { storage }: PreparationDeps,
): Promise<Checkpoint | null> {
  if (klReference === null) return null;
  if ('checkpointName' in klReference) {
    const expected = { baseModel: model.baseModel, param: 'kl_ref_adapter_path' };
    return (await getNamedCheckpoint(storage, model.entity, klReference.checkpointName, expected)).checkpoint;
  }
  const step = 'step' in klReference ? klReference.step : Math.max(0, start.step - klReference.stepLag);
  return getReferenceStep(storage, model.id, step);
}

/** The model's checkpoints whose reward spread is known. */
async function spreadsOf(model: Model, { storage }: PreparationDeps): Promise<{ step: number; spread: number }[]> {
  // In one read: between two pages, the checkpoint that is the cursor may be deleted.
  const { rows } = await storage.checkpoints.list(model.id, { after: null, limit: TREND_STEPS_MAX }, 'desc');
  return rows.toReversed().flatMap(({ step, metrics }) => {
    const spread = metrics['train/reward_std_dev'];
    return spread === undefined ? [] : [{ step, spread }];
  });
}

/** Exact: float32 as base64, because JSON has no NaN. */
interface PreparationJson {
  readonly start: string[] | null;
  readonly reference: string[] | null;
  readonly learningRateScale: number;
  /** A different digest, or none in records of an older version, means that other rows were prepared: computed again. */
  readonly rowsDigest?: string;
  /** Absent: an older version made it. */
  readonly ratios?: SamplerMismatch | null;
}

function toJson({ policies, learningRateScale, mismatch }: Preparation, rowsDigest: string): PreparationJson {
  const encode = (rows: readonly Float32Array[] | null) =>
    rows && rows.map((row) => Buffer.from(row.buffer, row.byteOffset, row.byteLength).toString('base64'));
  return {
    start: encode(policies.start),
    reference: encode(policies.reference),
    learningRateScale,
    ratios: mismatch,
    rowsDigest,
  };
}

function fromJson({ start, reference, learningRateScale, ratios: mismatch = null }: PreparationJson): Preparation {
  const decode = (rows: string[] | null) =>
    rows && rows.map((row) => new Float32Array(new Uint8Array(Buffer.from(row, 'base64')).buffer));
  return { policies: { start: decode(start), reference: decode(reference) }, learningRateScale, mismatch };
}
