// A loop over the first axis of tensors: ONNX's Scan. A round reads its slices where they lie, without a copy, so that one node
// goes through the weights of a hundred experts in a mapped file.
import type { Graph, GradientRule, Value } from './graph.ts';

export interface ScanOptions {
  /** What the first round finds; a round leaves values of the same shapes for the next. */
  readonly carried: readonly Value[];
  /** All of one size along their first axis: the number of rounds. */
  readonly scanned: readonly Value[];
  /** For the carried values, then the scanned ones, then what rounds read of this graph (`captured`). */
  readonly gradient?: GradientRule;
}

interface Round {
  readonly carried: readonly Value[];
  /** Of all rounds they become one tensor, with the rounds as its first axis. */
  readonly stacked?: readonly Value[];
}

/** Gives what the last round left, then what all rounds stacked. */
export function scan(
  g: Graph,
  { carried, scanned, gradient }: ScanOptions,
  round: (body: Graph, carried: readonly Value[], slices: readonly Value[]) => Round,
): readonly Value[] {
  const body = g.inner('scan');
  const found = carried.map(({ dtype, shape }) => body.input(body.name('found'), dtype, shape));
  const slices = scanned.map(({ dtype, shape }) => body.input(body.name('slice'), dtype, shape.slice(1)));
  const { carried: left, stacked = [] } = round(body, found, slices);
  left.forEach((value) => body.output(body.name('left'), value));
  stacked.forEach((value) => body.output(body.name('stacked'), value));
  body.prune();
  const rounds = scanned[0]!.shape[0]!;
  const outputs = [
    ...left.map(({ dtype, shape }) => ({ dtype, shape })),
    ...stacked.map(({ dtype, shape }) => ({ dtype, shape: [rounds, ...shape] })),
  ];
  const extras = { captured: body.free(), ...(gradient ? { gradient } : {}) };
  return g.node('Scan', [...carried, ...scanned], outputs, { body, num_scan_inputs: scanned.length }, extras);
}
