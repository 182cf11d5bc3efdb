// A loop inside a graph: ONNX's Loop with a fixed number of rounds. The intermediate values of a round are freed before the next
// round starts, so memory is bounded by one round.
import type { Graph, GradientRule, Value } from './graph.ts';

export interface LoopOptions {
  /** int64 `[]` */
  readonly rounds: Value;
  /** The initial values; float32. A size that is 0 here may change from round to round. */
  readonly carried: readonly Value[];
  /** Gradients for the carried values (after two places for Loop's own inputs), then for the values of this graph that rounds read (`captured`). */
  readonly gradient?: GradientRule;
}

/** `round` gets the number of the round, int64 `[]`, and returns the values for the next one. Returns the values of the last round. */
export function loop(
  g: Graph,
  { rounds, carried, gradient }: LoopOptions,
  round: (body: Graph, index: Value, carried: readonly Value[]) => readonly Value[],
): readonly Value[] {
  const body = g.inner('loop');
  const index = body.input(body.name('round'), 'int64', []);
  const goesOn = body.input(body.name('goes_on'), 'bool', []);
  const found = carried.map(({ shape }, i) =>
    body.input(
      body.name(`found_${i}`),
      'float32',
      shape.map((size) => (size === 0 ? body.name('found') : size)),
    ),
  );
  const left = round(body, index, found);
  body.output(body.name('continue'), goesOn);
  left.forEach((value, i) => body.output(body.name(`left_${i}`), value));
  body.prune();
  const outputs = left.map(({ dtype, shape }) => ({ dtype, shape }));
  const extras = { captured: body.free(), ...(gradient ? { gradient } : {}) };
  return g.node('Loop', [rounds, null, ...carried], outputs, { body }, extras);
}
