// A loop inside a graph: ONNX's Loop with a fixed number of rounds. What one round computes is gone before the next begins,
// so memory is bounded by a round, not by the whole.
import type { Graph, GradientRule, Value } from './graph.ts';

export interface LoopOptions {
  /** int64 `[]` */
  readonly rounds: Value;
  /** What the first round finds; float32. A size that is 0 there may change from round to round. */
  readonly carried: readonly Value[];
  /** For the carried values (after two places for Loop's own inputs), then for what rounds read of this graph (`captured`). */
  readonly gradient?: GradientRule;
}

/** `round` gets the number of the round, int64 `[]`, and gives what the next one finds. Gives what the last one gave. */
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
