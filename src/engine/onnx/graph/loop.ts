// A loop inside a graph: ONNX's Loop with a fixed number of rounds. What one round computes is gone before the next begins,
// so memory is bounded by a round, not by the whole.
import { Graph, type GradientRule, type Value } from './graph.ts';

export interface LoopOptions {
  /** Distinguishes the names inside; one per loop of a graph. */
  readonly name: string;
  /** int64 `[]` */
  readonly rounds: Value;
  /** What the first round finds; float32. A size that is 0 there may change from round to round. */
  readonly carried: readonly Value[];
  /** Values of the outer graph that rounds read. */
  readonly captured: readonly Value[];
  /** For the carried values (after two places for Loop's own inputs), then the captured ones. */
  readonly gradient?: GradientRule;
}

/** `round` gets the number of the round, int64 `[]`, and gives what the next one finds. Gives what the last one gave. */
export function loop(
  g: Graph,
  { name, rounds, carried, captured, gradient }: LoopOptions,
  round: (body: Graph, index: Value, carried: readonly Value[]) => readonly Value[],
): readonly Value[] {
  const body = new Graph(`${name}_`);
  const index = body.input(`${name}_round`, 'int64', []);
  const goesOn = body.input(`${name}_goes_on`, 'bool', []);
  const found = carried.map(({ shape }, i) =>
    body.input(
      `${name}_found_${i}`,
      'float32',
      shape.map((size) => (size === 0 ? `${name}_found` : size)),
    ),
  );
  const left = round(body, index, found);
  body.output(`${name}_continue`, goesOn);
  left.forEach((value, i) => body.output(`${name}_left_${i}`, value));
  const outputs = left.map(({ dtype, shape }) => ({ dtype, shape }));
  return g.node('Loop', [rounds, null, ...carried], outputs, { body }, { captured, ...(gradient ? { gradient } : {}) });
}
