// An MLP of many experts, of which a router chooses a few for each token (arXiv:1701.06538), computed as in Transformers: softmax
// over all experts, the largest probabilities, the experts' results weighted and added in the order of the experts. One Scan loops
// over the experts; each round gathers the tokens that chose the expert. The binding decides where the weights come from and how a
// row is multiplied (decoder.ts).
//
// There is no jitter, and no load-balancing loss: the router is frozen, and a gradient flows through it to the hidden states.
import { invariant } from '#base/invariant';
import type { Experts } from '#model-files/block';
import { pullback } from '../graph/autodiff.ts';
import { branch } from '../graph/branch.ts';
import { readBy, type Dim, type GradientRule, type Graph, type Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';
import { scan } from '../graph/scan.ts';

/** One linear of all experts of a layer. */
export interface ExpertLinear {
  /** The weights of all experts, with the experts as first axis. */
  readonly stacked: readonly Value[];
  /** x `[rows, in]` → `[rows, out]` by one expert's slices of them. */
  readonly multiply: (g: Graph, x: Value, slices: readonly Value[]) => Value;
}

export interface ExpertWeights {
  /** `[tokens, hidden] → [tokens, experts]` */
  readonly route: (x: Value) => Value;
  readonly gateUp: ExpertLinear;
  readonly down: ExpertLinear;
}

type Activate = (g: Graph, x: Value) => Value;

/** x `[tokens, hidden]` → the same. */
export function mixExperts(
  g: Graph,
  experts: Experts,
  { route, gateUp, down }: ExpertWeights,
  activate: Activate,
  x: Value,
): Value {
  const { chosen, weights } = routing(g, experts, route(x));
  const byExpert = (x: Value): Value => ops.transpose(g, x, [1, 0]); // [experts, tokens]
  const scanned = [byExpert(chosen), byExpert(weights), ...gateUp.stacked, ...down.stacked];

  /** One expert's output before its last product, for the tokens that chose it. */
  const round = (body: Graph, [chosenHere, weightsHere, ...slices]: readonly Value[]) => {
    const rows = ops.nonZero(body, chosenHere!, body.name('rows'));
    const own = ops.gather(body, x, rows); // [rows, hidden]
    const both = gateUp.multiply(body, own, slices.slice(0, gateUp.stacked.length));
    const [gate, up] = ops.split(body, both, -1, [experts.intermediate, experts.intermediate]) as [Value, Value];
    const inner = ops.mul(body, activate(body, gate), up); // [rows, intermediate]
    const weight = ops.unsqueeze(body, ops.gather(body, weightsHere!, rows), 1); // [rows, 1]
    const multiplyDown = (x: Value): Value => down.multiply(body, x, slices.slice(gateUp.stacked.length));
    return { rows, own, inner, weight, multiplyDown };
  };

  /** Skips an expert that no token chose. */
  const ifChosen = (
    body: Graph,
    slices: readonly Value[],
    used: (g: Graph) => Value[],
    unused: (g: Graph) => Value[],
  ) => {
    const condition = ops.less(body, body.scalar(0), ops.reduceMax(body, slices[0]!, [0], false));
    return branch(body, { name: body.name('expert'), condition }, used, unused);
  };

  const gradient: GradientRule = (outer, node, [dy], wanted) => {
    const [dx, dWeights] = scan(outer, { carried: [ops.zerosLike(outer, x)], scanned }, (body, [sum], slices) => {
      const none = (g: Graph): Value => ops.zerosLike(g, slices[1]!);
      const throughExpert = (g: Graph): Value[] => {
        const { rows, own, inner, weight, multiplyDown } = round(g, slices);
        // Weighted before the product instead of after it, so that the weight's gradient needs no product.
        const out = multiplyDown(ops.mul(g, inner, weight));
        const [dOwn, dWeight] = pullback(g, out, ops.gather(g, dy!, rows), [own, weight]) as [Value, Value];
        const column = ops.reshape(g, dWeight, [rows.shape[0]!]);
        return [ops.addToRows(g, sum!, rows, dOwn), ops.addToRows(g, none(g), rows, column)];
      };
      const [left, column] = ifChosen(body, slices, throughExpert, (g) => [sum!, none(g)]);
      return { carried: [left!], stacked: [column!] };
    });
    return readBy(node).map((read, i) => {
      if (!wanted[i]) return null;
      invariant(read === x || read === scanned[1], 'experts have no gradient of their own');
      return read === x ? dx! : dWeights!;
    });
  };

  return scan(g, { carried: [ops.zerosLike(g, x)], scanned, gradient }, (body, [sum], slices) => {
    const throughExpert = (g: Graph): Value[] => {
      const { rows, inner, weight, multiplyDown } = round(g, slices);
      return [ops.addToRows(g, sum!, rows, ops.mul(g, multiplyDown(inner), weight))];
    };
    return { carried: ifChosen(body, slices, throughExpert, () => [sum!]) };
  })[0]!;
}

type Multiply = ExpertLinear['multiply'];

/** Each row is a product of its own, so that its sums do not depend on the number of rows: weights `[1, 1, out, in]`. */
export const multiplyRowsAlone: Multiply = (g, x, [weight]) => {
  const [rows, inFeatures] = x.shape as [Dim, number];
  return product(g, ops.reshape(g, x, [rows, 1, inFeatures], g.integers(-1, 1, inFeatures)), weight!, rows);
};

/** One product of all rows: faster if there are many, but its sums depend on their number. */
export const multiplyRowsTogether: Multiply = (g, x, [weight]) => product(g, x, weight!, x.shape[0]!);

const product = (g: Graph, x: Value, weight: Value, rows: Dim): Value =>
  ops.reshape(
    g,
    ops.matmul(g, x, weight, { transposeB: true }),
    [rows, weight.shape[2]!],
    g.integers(-1, weight.shape[2] as number),
  );

/**
 * `[tokens, experts]` both: 1 where an expert was chosen, else 0; and the factor of a chosen expert's result. Probabilities
 * divided by the sum of the chosen ones are a softmax over these alone. Written this way because ONNX Runtime's ReduceSum adds a row
 * in an order that depends on where it is in memory, and therefore on the batch.
 */
function routing(g: Graph, { perToken, normalized }: Experts, scores: Value): { chosen: Value; weights: Value } {
  const probabilities = ops.softmax(g, scores);
  const chosen = ops.stopGradient(g, ops.largestOfRows(g, probabilities, perToken));
  if (!normalized) return { chosen, weights: probabilities };
  const isChosen = ops.less(g, g.scalar(0), chosen);
  return { chosen, weights: ops.softmax(g, ops.where(g, isChosen, scores, g.scalar(-Infinity))) };
}
