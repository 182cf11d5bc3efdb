// What SFT and DPO jobs have in common: the rows of an artifact are tokenized into a file of the work directory, so that memory does not
// grow with their number, neither in preparation nor in training. Each kind defines its rows and how they are trained.
import { counted } from '#base/counted';
import { AppError } from '#domain/errors';
import type { DatasetVersion } from '#domain/sft';
import type { Skipped } from '#domain/training-job';
import type { BatchConfig } from '#training/sft-config';
import { planSftJob, type SftPlan } from '#training/sft-plan';
import type { EncodedSftData } from '#training/sft-rows';
import { skippedInWords } from '#training/skip-count';
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
      warnings: [...warnings, ...plan.warnings, ...emptyPlanWarnings(plan)],
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

/** A checkpoint that equals the one before, and metrics that are missing: nobody must take them for a result. */
export function emptyPlanWarnings({
  steps,
  skipped,
  validation,
  counts,
  config,
}: Pick<SftPlan<BatchConfig>, 'steps' | 'skipped' | 'validation' | 'counts' | 'config'>): string[] {
  const { validationSplit: split, evaluation } = config;
  const { num_rows: rows, num_validation_rows: held } = counts;
  const why =
    held === 0
      ? `no rows are held out: ${split} of ${counted(rows, 'row')} is less than one`
      : `no token of the ${counted(held, 'row')} that are held out can be learnt`;
  const field = evaluation ? 'config.eval_steps' : 'config.validation_split';
  return [
    ...(steps === 0 ? [nothingTrained(skipped)] : []),
    ...(split > 0 && validation.trainedTokens === 0
      ? [`${field} was not used, because ${why}. Hold more out with validation_split.`]
      : []),
  ];
}

function nothingTrained(skipped: Skipped): string {
  const reasons = skippedInWords(skipped);
  const remedies = Object.keys(skipped).flatMap((reason) => REMEDIES[reason] ?? []);
  return [
    `Nothing was trained: no row has a token to learn${reasons === '' ? '' : ` (${reasons})`}, so the checkpoint has the weights of the one before.`,
    ...remedies,
  ].join(' ');
}

const REMEDIES: Readonly<Record<string, string>> = {
  too_long: 'Send shorter rows: theirs are longer than the context, or than the trainer’s longest row.',
  no_trainable_tokens: 'Let rows have answers that are trained: not empty, and without weight 0 or train false.',
  equal_answers: 'Let the two answers of a pair differ.',
  rewritten_history: 'Send pairs whose answers are one turn each: the chat template writes the others in another way.',
};
