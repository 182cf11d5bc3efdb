// RL jobs: groups of trajectories from the job's body.
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import type { Storage } from '#storage/storage';
import { firstRowMismatch, trainRl } from '#training/rl-job';
import { createPackedRow, type Datum, type PackedRow } from '#training/packing';
import { mismatchMetrics, mismatchWarnings, type SamplerMismatch } from '#training/sampler-mismatch';
import { stalenessMetrics } from '#training/staleness';
import type { PolicyMove } from '#training/finite-policy';
import { finiteOnly, type StepMetrics } from '#training/step-metrics';
import { prepareJob } from './job-preparation.ts';
import { hiddenMetricWarnings, jobWarnings } from './job-warnings.ts';
import type { JobWork, WorkContext } from './job-work.ts';
import { entropyWarnings, measuredStep, STEPS_COMPARED, type LoopStep } from './loop-warnings.ts';
import { resolvedRl } from '../data/resolved-config.ts';
import { digestRows } from './rows-digest.ts';
import { createTokenRecorder } from './token-recorder.ts';

/** Optimizer state is reused only from checkpoints that RL jobs made. */
const REWARD = 'train/reward';
/** Standard error of that mean. A job with a single answer has none. */
const REWARD_STANDARD_ERROR = 'train/reward_std_error';
/** The part of the groups in which all rewards are equal, if any has two trajectories. */
const EQUAL_GROUPS = 'train/equal_groups_fraction';
/** Of the policy at the job's last gradient step, nats. */
const ENTROPY = 'train/entropy';
/** How far that step moved the policy, over up to 64 tokens of its row. */
const MOVED = { divergence: 'train/step_kl_div', difference: 'train/step_logprob_difference' };

export async function readRlWork(
  { job, model, start, engine, limits, capabilities, hiddenSize, read, storage, blobs }: WorkContext,
  signal: AbortSignal,
): Promise<JobWork> {
  const content = await blobs.stream(job.bodyBlob);
  if (!content)
    throw new AppError('internal', `The request of this job (${job.bodyBlob}) is missing from the blob store.`);
  const rows: PackedRow[] = [];
  const { exactLogprobs, sharedPrefixRows } = capabilities;
  const sharing = sharedPrefixRows ? 'shared' : 'separate';
  const budget = { ...limits, sharing } as const;
  const call = { blob: job.bodyBlob, budget, hiddenSize, exactLogprobs, startStep: start.step };
  const put = async (members: readonly Datum[]) => void rows.push(createPackedRow(members, sharing));
  const data = await read('rl', call, content, put, signal);
  const plan = { ...data.plan, rows };
  const { klReference = null, warnings = [] } = data.head;
  const config = resolvedRl(plan.config, klReference);
  const before = await latestSteps(storage, model.id);
  const rowsDigest = await digestRows(rows);
  const recorder = createTokenRecorder(plan, config);
  let entropy: number | null = null;
  let moved: PolicyMove | null = null;
  let shown: StepMetrics = {};
  let prepared: SamplerMismatch | null = null;
  const mismatch = () => {
    const first = recorder.logprobsOf(0);
    return prepared ?? (first && firstRowMismatch(plan, start.step, first));
  };
  return {
    recorder,
    heldOut: null,
    logsToRun: false,
    config,
    steps: plan.rows.length,
    rowsDigest,
    skipped: plan.skipped,
    warnings: [...warnings, ...plan.warnings, ...jobWarnings({ plan, before, hiddenSize })],
    counts: plan.counts,
    headTokensMax: plan.config.headTokensMax,
    resetsOptimizer: !isMadeByRl(start),
    async prepare(goesOn, signal) {
      const request = { job, model, plan, rowsDigest, klReference, start, exactLogprobs };
      const preparation = await prepareJob(request, { storage, blobs, engine, goesOn }, signal);
      if (!preparation) return null;
      prepared = preparation.mismatch;
      recorder.compareWith(preparation.policies);
      const onLogprobs = (row: number, logprobs: Float32Array) => recorder.take(row, logprobs);
      const onMove = (move: PolicyMove) => void (moved = move);
      const run = { plan, startStep: start.step, ...preparation, onLogprobs, onMove };
      return (session, firstRow) => trainRl(session, { ...run, firstRow });
    },
    lateWarnings() {
      const measured = mismatch();
      return [
        ...(measured ? mismatchWarnings(measured, plan.config.loss, capabilities.precision) : []),
        ...entropyWarnings(before, { ...measuredStep(plan), entropy }),
        ...hiddenMetricWarnings(plan, shown),
      ];
    },
    async measure(_session, lastStep) {
      entropy = lastStep['entropy'] ?? null;
      shown = { ...lastStep, gradient_step: NaN }; // the event has its number
      const found = mismatch();
      const measured = {
        ...plan.rewards,
        ...(found ? mismatchMetrics(found) : {}),
        ...stalenessMetrics(plan.staleness),
      };
      return {
        ...Object.fromEntries(Object.entries(measured).map(([name, value]) => [`train/${name}`, value])),
        ...(plan.rewardStandardError === null ? {} : { [REWARD_STANDARD_ERROR]: plan.rewardStandardError }),
        ...(plan.comparedGroups === 0 ? {} : { [EQUAL_GROUPS]: plan.equalGroups / plan.comparedGroups }),
        ...(entropy === null ? {} : { [ENTROPY]: entropy }),
        ...moveMetrics(moved),
      };
    },
    close: async () => undefined,
  };
}

const moveMetrics = (move: PolicyMove | null): StepMetrics =>
  move ? finiteOnly({ [MOVED.divergence]: move.divergence, [MOVED.difference]: move.difference }) : {};

/** Moments from SFT or DPO do not fit policy gradients, so they start at zero when the kind of job changes, as in the reference trainer. */
const isMadeByRl = ({ metrics }: Checkpoint): boolean => metrics[REWARD] !== undefined;

/** Of the model's latest steps, oldest first, back to the newest one that no RL job made. */
async function latestSteps({ checkpoints }: Storage, modelId: string): Promise<LoopStep[]> {
  const { rows } = await checkpoints.list(modelId, { after: null, limit: STEPS_COMPARED }, 'desc');
  const other = rows.findIndex(({ metrics }) => metrics[REWARD] === undefined);
  return rows
    .slice(0, other < 0 ? rows.length : other)
    .map(({ metrics }) => ({
      reward: metrics[REWARD]!,
      standardError: metrics[REWARD_STANDARD_ERROR] ?? null,
      equalGroups: metrics[EQUAL_GROUPS] ?? null,
      entropy: metrics[ENTROPY] ?? null,
    }))
    .reverse();
}
