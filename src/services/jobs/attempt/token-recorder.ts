// Collects what training computes for an RL job's tokens, row by row, and writes it group by group (token-record.ts). The job's saved
// state includes what was collected so far, so that a resumed job has the complete record.
import { createHash } from 'node:crypto';
import { NO_COMPARISON_POLICIES, type ComparisonPolicies } from '#training/comparison-policies';
import type { Datum } from '#training/packing';
import type { RlPlan } from '#training/rl-plan';
import { trainedCount } from '#training/token-sequence';
import type { ResolvedConfig } from '../data/resolved-config.ts';
import { writeRecord, type RecordedArray, type RecordedSequence, type RecordHead } from '../data/token-record.ts';

export interface TokenRecorder {
  /** Log-probabilities of the row's trained tokens, as its loss read them. */
  take(row: number, logprobs: Float32Array): void;
  /** What was taken or restored; null: nothing. */
  logprobsOf(row: number): Float32Array | null;
  /** The values that the loss compares them with. */
  compareWith(policies: ComparisonPolicies): void;
  /** What was collected from the first rows, to restore it later. */
  progress(rows: number): Uint8Array;
  /** Missing or damaged values stay unknown. */
  restore(progress: Uint8Array | null, rows: number): void;
  write(stepsDone: number): AsyncIterable<Uint8Array>;
}

const DIGEST_BYTES = 32;

export function createTokenRecorder(
  { rows, outcomes }: Pick<RlPlan, 'rows' | 'outcomes'>,
  config: ResolvedConfig,
): TokenRecorder {
  const counts = rows.map(({ members }) => members.reduce((sum, datum) => sum + trainedCount(datum), 0));
  const computed = new Map<number, Float32Array>();
  let policies: ComparisonPolicies = NO_COMPARISON_POLICIES;

  /** `[trained]` for one row, including unknown values. */
  const trainer = (row: number): Float32Array => computed.get(row) ?? new Float32Array(counts[row]!).fill(NaN);

  function* sequences(arrays: readonly RecordedArray[]): Generator<RecordedSequence> {
    const places = rows.flatMap(({ members }, row) => {
      let offset = 0;
      return members.map((datum) => {
        const place = { datum, row, offset };
        offset += trainedCount(datum);
        return place;
      });
    });
    for (const { datum, row, offset } of places.sort((a, b) => byOrigin(a.datum, b.datum))) {
      const count = trainedCount(datum);
      const part = (ofRow: Float32Array | undefined) =>
        ofRow?.slice(offset, offset + count) ?? new Float32Array(count).fill(NaN);
      const values: Record<RecordedArray, () => Float32Array> = {
        sampler: () => datum.logprobs.filter((_, i) => i > 0 && datum.trained[i] === 1),
        trainer: () => part(trainer(row)),
        start: () => part(policies.start?.[row]),
        reference: () => part(policies.reference?.[row]),
      };
      const trained = Uint8Array.from(datum.trained);
      trained[0] = 0; // no token precedes it
      const { advantage, weight, tokens, runs = [], runAdvantages } = datum;
      yield {
        ...datum.origin!,
        step: row + 1,
        advantage,
        weight,
        runs: runs.map(({ length, policyStep }, i) => ({
          length,
          policyStep,
          ...(runAdvantages ? { advantage: runAdvantages[i]! } : {}),
        })),
        tokens,
        trained,
        values: Object.fromEntries(arrays.map((name) => [name, values[name]()])),
      };
    }
  }

  return {
    take(row, logprobs) {
      if (logprobs.length === counts[row]) computed.set(row, logprobs);
    },
    logprobsOf: (row) => {
      const known = computed.get(row);
      return known && !known.every(Number.isNaN) ? known : null;
    },
    compareWith: (others) => void (policies = others),
    progress(done) {
      const data = Buffer.concat(rows.slice(0, done).map((_, row) => bytesOf(trainer(row))));
      return Buffer.concat([createHash('sha256').update(data).digest(), data]);
    },
    restore(progress, done) {
      const data = progress?.subarray(DIGEST_BYTES);
      const size = counts.slice(0, done).reduce((sum, count) => sum + count, 0) * Float32Array.BYTES_PER_ELEMENT;
      if (!progress || data?.length !== size) return;
      if (!createHash('sha256').update(data).digest().equals(progress.subarray(0, DIGEST_BYTES))) return;
      const all = new Float32Array(Uint8Array.from(data).buffer);
      let from = 0;
      for (const [row, count] of counts.slice(0, done).entries()) {
        computed.set(row, all.slice(from, from + count));
        from += count;
      }
    },
    write(stepsDone) {
      const arrays: RecordedArray[] = ['sampler', 'trainer'];
      if (policies.start) arrays.push('start');
      if (policies.reference) arrays.push('reference');
      const head: RecordHead = {
        version: 1,
        config,
        arrays,
        sequences: rows.reduce((sum, { members }) => sum + members.length, 0),
        stepsDone,
        outcomes,
      };
      return writeRecord(head, sequences(arrays));
    },
  };
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

function byOrigin({ origin: a }: Datum, { origin: b }: Datum): number {
  return a!.group - b!.group || a!.trajectory - b!.trajectory || a!.sequence - b!.sequence;
}
