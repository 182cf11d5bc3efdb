// Turns an SFT or DPO job's encoded rows into batches of packed rows, in the order of the file, for all epochs. Rows are read from the file
// each time a batch is trained, so that memory does not grow with the data. The same rows give the same plan, so that a job can be
// replayed after a crash.
import { createHash } from 'node:crypto';
import type { Skipped } from '#domain/training-job';
import type { EncodedRows } from './encoded-rows.ts';
import { scheduleRates, scheduleWarnings } from './learning-rate-schedule.ts';
import { packInOrder, type Datum, type PackedRow } from './packing.ts';
import { filledLength, requireRoomFor, type RowBudget } from './row-budget.ts';
import type { BatchConfig, SftConfig } from './sft-config.ts';
import type { EncodedSftData } from './sft-rows.ts';

/** One optimiser step. */
export interface SftBatch extends SftRows {
  readonly learningRate: number;
  /** Epochs completed after it, as a fraction. */
  readonly epoch: number;
}

export interface SftRows {
  readonly rows: () => AsyncIterable<PackedRow>;
  /** Rows of the data: packed rows hold several. */
  readonly rowCount: number;
  /** Number of tokens with labels: the loss is their mean. */
  readonly trainedTokens: number;
}

export interface SftPlan<Config extends BatchConfig = SftConfig> {
  readonly config: Config;
  /** Batches with something to train, of all epochs. */
  readonly steps: number;
  /** Steps over which the learning rate rises. */
  readonly warmupSteps: number;
  /** Digest of what the steps train: which rows of the data, and how many of their tokens. */
  readonly digest: string;
  readonly batches: (first: number) => AsyncIterable<SftBatch>;
  readonly validation: SftRows;
  /** Rows that are not trained, by reason. */
  readonly skipped: Skipped;
  readonly warnings: readonly string[];
  /** Counts of the data in one epoch. */
  readonly counts: {
    readonly num_rows: number;
    readonly num_validation_rows: number;
    readonly num_tokens: number;
    readonly num_trainable_tokens: number;
  };
}

/** Consecutive rows of the data. */
interface Run {
  readonly from: number;
  readonly end: number;
  readonly rows: number;
  readonly tokens: number;
  readonly trainedTokens: number;
}

/** A row length that no second sequence fits into. */
const ALONE = 1;

const emptyRun = (from: number): Run => ({ from, end: from, rows: 0, tokens: 0, trainedTokens: 0 });

/** Throws `invalid_request` if the numbers of learning rates and batches differ, `row_too_long` as requireRoomFor. */
export async function planSftJob<Config extends BatchConfig>(
  encoded: EncodedRows,
  data: EncodedSftData,
  config: Config,
  budget: RowBudget,
): Promise<SftPlan<Config>> {
  const heldRows = Math.floor(Number((data.rows * config.validationSplit).toFixed(6))); // 0.29 of 100 is 28.999999999999996 in floats
  const trainedRows = data.rows - heldRows;
  const { epochs } = config;
  requireRoomFor(data.longest, budget);
  const rowLength = filledLength(budget);

  const packed = (run: Run): SftRows => ({
    rows: () => packInOrder(dataOf(encoded, run), config.packs ? rowLength : ALONE, budget.sharing),
    rowCount: run.rows,
    trainedTokens: run.trainedTokens,
  });
  const batches = () => runsOf(encoded, 0, trainedRows, config.batchSize);
  const all = { batches: 0, steps: 0, tokens: 0, trainedTokens: 0, end: 0 };
  const hash = createHash('sha256');
  for await (const { from, rows, tokens, trainedTokens, end } of batches()) {
    hash.update(Float64Array.of(from, end, rows, tokens, trainedTokens));
    all.batches++;
    if (trainedTokens > 0) all.steps++;
    all.tokens += tokens;
    all.trainedTokens += trainedTokens;
    all.end = end;
  }
  if (epochs > 1) hash.update(Float64Array.of(epochs));
  const steps = all.steps * epochs;
  const rates = scheduleRates(config.learningRate, config.schedule, { batches: all.batches * epochs, steps });
  let validationRun = emptyRun(all.end);
  for await (const run of runsOf(encoded, all.end, heldRows, heldRows)) validationRun = run;

  return {
    config,
    steps,
    warmupSteps: rates.warmupSteps,
    digest: hash.digest('hex'),
    async *batches(first) {
      if (steps === 0) return;
      for (let epoch = Math.floor(first / all.steps); epoch < epochs; epoch++) {
        const place = { batch: epoch * all.batches, step: epoch * all.steps };
        for await (const run of batches()) {
          if (run.trainedTokens > 0) {
            const learningRate = rates.rateOf(place);
            if (place.step++ >= first) yield { ...packed(run), learningRate, epoch: place.step / all.steps };
          }
          place.batch++;
        }
      }
    },
    validation: packed(validationRun),
    skipped: data.skipped,
    warnings: [...data.warnings, ...scheduleWarnings(rates, steps)],
    counts: {
      num_rows: data.rows,
      num_validation_rows: heldRows,
      num_tokens: all.tokens + validationRun.tokens,
      num_trainable_tokens: all.trainedTokens,
    },
  };
}

/** `rows` rows from an offset, in runs of `size`; the last run may have fewer. */
async function* runsOf(encoded: EncodedRows, from: number, rows: number, size: number): AsyncGenerator<Run> {
  let run = emptyRun(from);
  let read = 0;
  if (rows === 0) return;
  for await (const { tokens, trainedTokens, end } of encoded.read(from)) {
    run = {
      from: run.from,
      end,
      rows: run.rows + 1,
      tokens: run.tokens + tokens,
      trainedTokens: run.trainedTokens + trainedTokens,
    };
    read++;
    if (run.rows < size && read < rows) continue;
    yield run;
    if (read === rows) return;
    run = emptyRun(end);
  }
}

async function* dataOf(encoded: EncodedRows, { from, rows }: Run): AsyncGenerator<Datum> {
  if (rows === 0) return;
  let read = 0;
  for await (const row of encoded.read(from)) {
    for (const sequence of row.sequences()) yield { ...sequence, advantage: 0, weight: 1 };
    if (++read === rows) return;
  }
}
