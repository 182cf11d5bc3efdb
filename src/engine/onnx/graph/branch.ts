// A choice inside a graph: ONNX's If. What is not chosen is not computed.
import { Graph, type Value } from './graph.ts';

export interface BranchOptions {
  /** Distinguishes the names inside; one per branch of a graph. */
  readonly name: string;
  /** bool `[]` */
  readonly condition: Value;
  /** Values of the outer graph that either side reads. */
  readonly captured: readonly Value[];
}

/** The value of one side; both have one dtype and shape, and where they name a size differently, the first does. No gradient. */
export function branch(
  g: Graph,
  { name, condition, captured }: BranchOptions,
  whenTrue: (inner: Graph) => Value,
  whenFalse: (inner: Graph) => Value,
): Value {
  const side = (which: string, compute: (inner: Graph) => Value) => {
    const inner = new Graph(`${name}_${which}_`);
    inner.output(`${name}_${which}`, compute(inner));
    return inner;
  };
  const [then_branch, else_branch] = [side('true', whenTrue), side('false', whenFalse)];
  const { dtype, shape } = then_branch.outputs[0]!;
  return g.node('If', [condition], [{ dtype, shape }], { then_branch, else_branch }, { captured })[0]!;
}
