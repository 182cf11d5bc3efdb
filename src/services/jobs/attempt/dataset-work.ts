// What SFT and DPO jobs have in common: the rows of an artifact are tokenized into a file of the work directory, so that memory does not
// grow with their number, neither in preparation nor in training. Each kind defines its rows and how they are trained.
import { AppError } from '#domain/errors';
import type { DatasetVersion } from '#domain/sft';
import type { BatchConfig } from '#training/sft-config';
import { planSftJob, type SftPlan } from '#training/sft-plan';
import type { EncodedSftData } from '#training/sft-rows';
import type { HeldOutRows } from './held-out.ts';
import type { JobWork, WorkContext } from './job-work.ts';
import type { ResolvedConfig } from '../data/resolved-config.ts';
import { openRowsFile } from './rows-file.ts';
import { parseSealedJson } from '../data/sealed-json.ts';
import { readDataset } from '../data/sft-dataset.ts';

/** Content of a job's body blob. */
interface DatasetBody<Input> {
  readonly dataset: DatasetVersion;
  readonly config: Input;
  readonly warnings?: readonly string[];
}

export interface RowsToRead<Config> {
  readonly dataset: DatasetVersion;
  readonly config: Config;
  /** Maximum tokens of a sequence. */
  readonly lengthMax: number;
  readonly content: AsyncIterable<Uint8Array>;
  readonly put: (bytes: Uint8Array) => Promise<void>;
}

export interface DatasetKind<Input, Config extends BatchConfig> {
  /** With all defaults filled in. */
  resolve(asked: Input): Config;
  read(rows: RowsToRead<Config>): Promise<EncodedSftData>;
  /** For the first event. */
  resolved(config: Config, warmupSteps: number): ResolvedConfig;
  trained(plan: SftPlan<Config>): Trained;
}

interface Trained extends Pick<JobWork, 'logsToRun' | 'prepare' | 'measure'> {
  readonly evaluate: HeldOutRows['evaluate'];
}

const NOTHING_HELD_OUT =
  'config.eval_steps was not used, because no rows are held out. Hold some out with validation_split.';

export async function readDatasetWork<Input, Config extends BatchConfig>(
  { job, limits, capabilities, storage, blobs, workDirectory }: WorkContext,
  kind: DatasetKind<Input, Config>,
): Promise<JobWork> {
  const body = await blobs.find(job.bodyBlob);
  if (!body)
    throw new AppError('internal', `The request of this job (${job.bodyBlob}) is missing from the blob store.`);
  const opened = parseSealedJson<DatasetBody<Input>>(body);
  if (!opened) throw new AppError('damaged_data', 'The stored request of this job is damaged. Submit it again.');
  const { dataset, config: asked, warnings = [] } = opened.value;
  const config = kind.resolve(asked);
  const { contextLength, rowLengthMax } = limits;
  const lengthMax = Math.min(contextLength, rowLengthMax);
  const content = await readDataset({ storage, blobs }, dataset);
  const file = await openRowsFile(workDirectory);
  try {
    const put = (bytes: Uint8Array) => file.write(bytes);
    const data = await kind.read({ dataset, config, lengthMax, content, put });
    const plan = await planSftJob(file, data, config, {
      ...limits,
      sharing: capabilities.sharedPrefixRows ? 'shared' : 'separate',
    });
    const { evaluation: schedule } = config;
    const isHeldOut = plan.validation.trainedTokens > 0;
    const { evaluate, ...trained } = kind.trained(plan);
    return {
      steps: plan.steps,
      rowsDigest: plan.digest,
      skipped: plan.skipped,
      warnings: [...warnings, ...plan.warnings, ...(schedule && !isHeldOut ? [NOTHING_HELD_OUT] : [])],
      config: kind.resolved(config, plan.warmupSteps),
      counts: plan.counts,
      recorder: null,
      headTokensMax: null,
      resetsOptimizer: true,
      lateWarnings: () => [],
      ...trained,
      heldOut: schedule && isHeldOut ? { schedule, evaluate } : null,
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}
