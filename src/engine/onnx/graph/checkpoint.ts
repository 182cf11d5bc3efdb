// A part of a graph that keeps only its input: its gradient computes the rest once more (arXiv:1604.06174). Both passes
// are loops of one round, so that their intermediate values are freed afterwards, and ONNX Runtime can neither merge the two nor
// move one before the values it depends on.
import { pullback } from './autodiff.ts';
import { readBy, type Graph, type GradientRule, type Value } from './graph.ts';
import { loop } from './loop.ts';

/** compute(x), which has x's shape. It is called again for the gradient: it must add the same nodes to any graph it is given. */
export function checkpoint(g: Graph, x: Value, compute: (g: Graph, x: Value) => Value): Value {
  const rounds = g.initializer(g.name('once'), BigInt64Array.of(1n), []);
  const gradient: GradientRule = (outer, node, [dy], wanted) => {
    const read = readBy(node);
    const wrt = read.filter((value, i): value is Value => value !== null && wanted[i]!);
    // The values themselves are carried, for the shapes of their gradients.
    const grads = loop(outer, { rounds, carried: wrt }, (body) => pullback(body, compute(body, x), dy!, wrt));
    return read.map((value) => (value && wrt.includes(value) ? grads[wrt.indexOf(value)]! : null));
  };
  return loop(g, { rounds, carried: [x], gradient }, (body, _index, [kept]) => [compute(body, kept!)])[0]!;
}
