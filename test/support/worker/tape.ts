// The calls of a training loop to its session, as data that another engine can repeat: rows, losses and updates in order, written
// as JSON. Numbers that JSON cannot represent are null.
import type { LossProgram } from '#engine/loss-program';
import type { OptimizerParams, TrainingRow, TrainingSession } from '#engine/training-engine';

export type Call =
  | { readonly verb: 'forwardBackward'; readonly row: RowData; readonly loss: LossProgram }
  | { readonly verb: 'optimStep'; readonly params: OptimizerParams };

type RowData = { readonly [K in Exclude<keyof TrainingRow, 'inputs'>]: readonly number[] } & {
  readonly inputs: Readonly<Record<string, readonly (number | null)[]>>;
};

export const rowData = (row: TrainingRow): RowData => ({
  tokens: [...row.tokens],
  positions: [...row.positions],
  segments: [...row.segments],
  parents: [...row.parents],
  predictFrom: [...row.predictFrom],
  targets: [...row.targets],
  sequenceIds: [...row.sequenceIds],
  inputs: Object.fromEntries(Object.entries(row.inputs).map(([name, values]) => [name, [...values]])),
});

/** The row of a tape that was read back from JSON. */
export const toRow = (data: RowData): TrainingRow => ({
  tokens: Int32Array.from(data.tokens),
  positions: Int32Array.from(data.positions),
  segments: Int32Array.from(data.segments),
  parents: Int32Array.from(data.parents),
  predictFrom: Int32Array.from(data.predictFrom),
  targets: Int32Array.from(data.targets),
  sequenceIds: Int32Array.from(data.sequenceIds),
  inputs: Object.fromEntries(
    Object.entries(data.inputs).map(([name, values]) => [name, Float32Array.from(values, (x) => x ?? NaN)]),
  ),
});

/** A session that computes nothing: every loss is 0. */
export function recordCalls(): { readonly session: TrainingSession; readonly calls: readonly Call[] } {
  const calls: Call[] = [];
  const session: TrainingSession = {
    rowsAtOnce: 1,
    logprobs: async (rows) => rows.map((row) => new Float32Array(row.targets.length)),
    forwardBackward: async (rows, loss) =>
      rows.map((row) => {
        calls.push({ verb: 'forwardBackward', row: rowData(row), loss });
        return { loss: 0, metrics: {} };
      }),
    async optimStep(params) {
      calls.push({ verb: 'optimStep', params });
      return { gradNorm: 0 };
    },
    save: async () => {},
    close: async () => {},
  };
  return { session, calls };
}
