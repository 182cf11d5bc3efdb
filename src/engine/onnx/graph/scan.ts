// A loop over the first axis of tensors: ONNX's Scan. A round reads its slices in place, without a copy, so that one node
// can read the weights of a hundred experts from a mapped file.
import type { Graph, GradientRule, Value } from './graph.ts';

export interface ScanOptions {
  /** The initial values; a round returns values of the same shapes for the next. */
  readonly carried: readonly Value[];
  /** All have the same size along their first axis: the number of rounds. */
  readonly scanned: readonly Value[];
  /** Gradients for the carried values, then the scanned ones, then the values of this graph that rounds read (`captured`). */
  readonly gradient?: GradientRule;
}

interface Round {
  readonly carried: readonly Value[];
  /** Stacked over all rounds into one tensor, with the rounds as its first axis. */
  readonly stacked?: readonly Value[];
}

/** Returns the values of the last round, then the stacked values of all rounds. */
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
