// Turns the data of a forward_backward into rows for the trainer, and the trainer's results into log-probabilities per datum. Every
// position of a datum is predicted, whatever its weight, because the client reads all of them. The client shifts the targets itself.
import { createYielder } from '#base/yield-to-loop';
import { AppError } from '#domain/errors';
import type { TrainingLimits, TrainingRow } from '#engine/training-engine';
import { filledLength } from '#training/row-budget';
import { createLayout, createRowFilling, type FilledRow } from '#training/row-filling';
import type { RowLayout, Sharing } from '#training/row-layout';
import type { TinkerLoss, TinkerLossInput } from '#training/tinker-losses';
import type { DatumLogprobs, TinkerDatum } from './protobuf/forward-backward.ts';
import type { WireTensor } from './protobuf/tensors.ts';

export interface RowPlan {
  readonly rows: readonly PlannedRow[];
  /** Takes the log-probabilities of every row, in order. */
  spread(logprobs: readonly Float32Array[]): DatumLogprobs[];
}

export interface PlannedRow {
  /** Computed when it is first needed. */
  readonly row: TrainingRow;
}

export interface RowOptions {
  readonly limits: TrainingLimits;
  readonly vocabSize: number;
  readonly sharing: Sharing;
}

interface Checked {
  readonly tokens: Int32Array;
  /** `[places · width]` */
  readonly targets: Int32Array;
  /** Number of targets at each position; null: one, in a one-dimensional list. */
  readonly width: number | null;
  readonly inputs: Readonly<Record<string, Float32Array>>;
}

/** Predictions of one row: several targets at a position, or data with equal tokens. */
const PREDICTIONS_MAX = 65_536;

/** Lets other requests run between data. Throws `invalid_request`, `row_too_long`. */
export async function planDatumRows(
  data: readonly TinkerDatum[],
  loss: TinkerLoss,
  options: RowOptions,
): Promise<RowPlan> {
  if (data.length === 0) throw refuse(null, 'there is no data');
  const filling = createRowFilling<Checked>({
    rowLength: filledLength(options.limits),
    sharing: options.sharing,
    tokensOf: ({ tokens }) => tokens,
    costOf: ({ targets }) => targets.length,
    costMax: PREDICTIONS_MAX,
  });
  const rows: FilledRow<Checked>[] = [];
  const yieldToLoop = createYielder();
  for (const [index, datum] of data.entries()) {
    const full = filling.add(checkDatum(datum, index, loss.inputs, options));
    if (full) rows.push(full);
    await yieldToLoop();
  }
  rows.push(filling.last()!);
  return {
    rows: rows.map(({ members }) => ({
      get row() {
        return layRow(members, createLayout(options.sharing));
      },
    })),
    spread(logprobs) {
      return rows.flatMap(({ members }, r) => {
        let at = 0;
        return members.map(({ targets, width }) => {
          const own = logprobs[r]!.slice(at, at + targets.length);
          at += targets.length;
          return { logprobs: own, width };
        });
      });
    },
  };
}

function layRow(members: readonly Checked[], layout: RowLayout): TrainingRow {
  for (const { tokens } of members) layout.add(tokens);
  const { places, ...laid } = layout.lay();
  const count = members.reduce((sum, { targets }) => sum + targets.length, 0);
  const [predictFrom, targets, sequenceIds] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)];
  const names = Object.keys(members[0]!.inputs);
  const inputs = Object.fromEntries(names.map((name) => [name, new Float32Array(count)]));
  let at = 0;
  members.forEach((datum, sequence) => {
    const width = datum.width ?? 1;
    targets.set(datum.targets, at);
    sequenceIds.fill(sequence, at, at + datum.targets.length);
    for (const name of names) inputs[name]!.set(datum.inputs[name]!, at);
    for (let i = 0; i < datum.targets.length; i++) predictFrom[at + i] = places[sequence]![Math.floor(i / width)]!;
    at += datum.targets.length;
  });
  return { ...laid, predictFrom, targets, sequenceIds, inputs };
}

function checkDatum(
  { tokens, inputs }: TinkerDatum,
  index: number,
  wanted: readonly TinkerLossInput[],
  { limits, vocabSize }: RowOptions,
): Checked {
  const lengthMax = Math.min(limits.rowLengthMax, limits.contextLength);
  if (tokens.length === 0) throw refuse(index, 'it has no tokens');
  if (tokens.length > lengthMax) {
    const message = `Datum ${index} has ${tokens.length} tokens; the trainer of this server takes at most ${lengthMax}. Send shorter ones.`;
    throw new AppError('row_too_long', message);
  }
  const targets = inputs.get('target_tokens');
  if (!targets) throw refuse(index, 'loss_fn_inputs has no target_tokens');
  if (targets.values instanceof Float32Array) throw refuse(index, 'target_tokens must be integers');
  const [places = 1, width = null] = targets.shape;
  if (places !== tokens.length || width === 0)
    throw refuse(index, `target_tokens has ${places} positions, but model_input has ${tokens.length} tokens`);
  for (const [name, ids] of [['model_input', tokens] as const, ['target_tokens', targets.values] as const]) {
    const unknown = ids.find((id) => id < 0 || id >= vocabSize);
    if (unknown !== undefined)
      throw refuse(index, `${name} has the token ${unknown}, but the model's tokens are 0 to ${vocabSize - 1}`);
  }
  if (width !== null && wanted.includes('logprobs'))
    throw refuse(index, 'only cross_entropy supports several targets at a position');
  const read = wanted.map((name) => [name, readInput(inputs, name, targets, index)] as const);
  return { tokens, targets: targets.values, width, inputs: Object.fromEntries(read) };
}

function readInput(
  inputs: TinkerDatum['inputs'],
  name: TinkerLossInput,
  targets: WireTensor,
  index: number,
): Float32Array {
  const tensor = inputs.get(name);
  if (!tensor) {
    if (name === 'weights') return new Float32Array(targets.values.length).fill(1);
    throw refuse(index, `loss_fn_inputs has no ${name}`);
  }
  const { values, shape } = tensor;
  const [own, wanted] = [shape.join(' × '), targets.shape.join(' × ')];
  if (own !== wanted) throw refuse(index, `${name} has ${own} values for ${wanted} targets`); // also if it is turned
  const numbers = values instanceof Float32Array ? values : Float32Array.from(values);
  if (!numbers.every(Number.isFinite)) throw refuse(index, `${name} has a value that is not finite`);
  return name === 'sequence_ratio_mask' ? numbers.map((value) => Number(value !== 0)) : numbers;
}

const refuse = (index: number | null, why: string): AppError =>
  new AppError('invalid_request', `${index === null ? 'The data' : `Datum ${index}`} cannot be used: ${why}.`);
