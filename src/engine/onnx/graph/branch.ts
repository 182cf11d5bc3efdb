// A choice inside a graph: ONNX's If. The branch that is not chosen is not computed.
import { Graph, type Value } from './graph.ts';

export interface BranchOptions {
  /** Makes the names inside unique; one prefix per branch of a graph. */
  readonly name: string;
  /** bool `[]` */
  readonly condition: Value;
}

/** The values of one branch; both have the same dtypes and shapes. If they name a size differently, the first name is used. No gradient. */
export function branch(
  g: Graph,
  { name, condition }: BranchOptions,
  whenTrue: (inner: Graph) => readonly Value[],
  whenFalse: (inner: Graph) => readonly Value[],
): readonly Value[] {
  const side = (which: string, compute: (inner: Graph) => readonly Value[]) => {
    const inner = new Graph(`${name}_${which}_`);
    compute(inner).forEach((value, i) => inner.output(`${name}_${which}_${i}`, value));
    return inner;
  };
  const [then_branch, else_branch] = [side('true', whenTrue), side('false', whenFalse)];
  const captured = [...new Set([...then_branch.free(), ...else_branch.free()])];
  const outputs = then_branch.outputs.map(({ dtype, shape }) => ({ dtype, shape }));
  return g.node('If', [condition], outputs, { then_branch, else_branch }, { captured });
}
