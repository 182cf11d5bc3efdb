// A part of a graph of which only the input is kept: its gradient computes the rest once more (arXiv:1604.06174). Both ways
// are loops of one round, so that what they compute is gone behind them, and ONNX Runtime can neither merge the two nor
// move one before what it waits for.
import { pullback } from './autodiff.ts';
import { readBy, type Graph, type GradientRule, type Value } from './graph.ts';
import { loop } from './loop.ts';

/** compute(x), which has x's shape. It is called again for the gradient: it must add the same nodes to whatever graph it gets. */
export function checkpoint(g: Graph, x: Value, compute: (g: Graph, x: Value) => Value): Value {
  const rounds = g.initializer(g.name('once'), BigInt64Array.of(1n), []);
  const gradient: GradientRule = (outer, node, [dy], wanted) => {
    const read = readBy(node);
    const wrt = read.filter((value, i): value is Value => value !== null && wanted[i]!);
    // Carried are the values themselves, for the shapes of their gradients.
    const grads = loop(outer, { rounds, carried: wrt }, (body) => pullback(body, compute(body, x), dy!, wrt));
    return read.map((value) => (value && wrt.includes(value) ? grads[wrt.indexOf(value)]! : null));
  };
  return loop(g, { rounds, carried: [x], gradient }, (body, _index, [kept]) => [compute(body, kept!)])[0]!;
}
