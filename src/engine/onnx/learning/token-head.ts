// Log-probabilities and entropies of trained tokens, a chunk of them at a time: logits are `[chunk, vocab]`, never
// `[trained, vocab]`, which for a thousand tokens and a vocabulary of 150k would be 600 MB several times over.
//
// The gradient needs no logits either: ∂ logprob / ∂ state = W[target] − softmax · W is computed beside the value, so a frozen
// head costs no more than without chunks. Only where the head itself is trained are the logits computed a second time.
import { readBy, type GradientRule, type Graph, type Value } from '../graph/graph.ts';
import { logSumExp } from '../graph/log-sum-exp.ts';
import { loop } from '../graph/loop.ts';
import * as ops from '../graph/ops.ts';
import { softCapped } from '../models/attention.ts';

export interface TokenHeadInputs {
  /** `[trained, hidden]`, each to predict its target from. */
  readonly states: Value;
  /** `[vocab, hidden]` */
  readonly head: Value;
  /** int64 `[trained]` */
  readonly targets: Value;
  /** int64 `[]`: tokens at a time. */
  readonly chunk: Value;
  /** Of logits, see models/attention.ts. */
  readonly softCap: number | null;
}

export interface TokenHead {
  /** `[trained]`, nats; differentiable by states and head. */
  readonly logprob: Value;
  /** `[trained]`, nats; no gradient. */
  readonly entropy: Value;
}

/** Not `differentiable`: without what only the gradient needs, a third of the work. */
export function tokenHead(g: Graph, inputs: TokenHeadInputs, differentiable = true): TokenHead {
  const { head, targets, chunk } = inputs;
  const none = (what: string, ...rest: readonly number[]) =>
    g.initializer(`no_${what}`, new Float32Array(0), [0, ...rest]);
  const slopes = differentiable ? [none('slopes', head.shape[1] as number)] : [];
  const options = {
    rounds: ops.quotientUp(g, ops.reshape(g, ops.shapeOf(g, targets), []), chunk),
    carried: [none('logprobs'), none('entropies'), ...slopes],
    gradient: headGradient(inputs),
  };
  const [logprob, entropy] = loop(g, options, (body, index, known) => {
    const part = chunkOf(body, inputs, index);
    const { total, logprobs, probabilities, slope } = chunkSoftmax(body, part.states, inputs);
    const targetRows = ops.gather(body, head, part.targets); // [chunk, hidden]
    const target = cappedLogits(body, ops.reduceSum(body, ops.mul(body, part.states, targetRows), [-1]), inputs);
    const mean = ops.reduceSum(body, ops.mul(body, probabilities, logprobs), [-1]);
    const found = [ops.sub(body, target.logits, total), ops.neg(body, mean)].map((x) =>
      ops.reshape(body, x, ['chunk']),
    );
    // ∂ logprob / ∂ state, [chunk, hidden]
    if (differentiable) {
      const pulled = ops.matmul(body, slope(probabilities), head);
      found.push(ops.sub(body, target.slope(targetRows), pulled));
    }
    return found.map((x, i) => ops.concat(body, [known[i]!, x], 0, targets.shape[0]));
  });
  return { logprob: logprob!, entropy: ops.stopGradient(g, entropy!) };
}

function chunkOf(body: Graph, { states, targets, chunk }: TokenHeadInputs, index: Value) {
  const start = ops.mul(body, index, chunk);
  const end = ops.add(body, start, chunk);
  const slice = (x: Value) => ops.slice(body, x, start, end, 'chunk');
  return { slice, states: slice(states), targets: slice(targets) };
}

/** Softmax over the vocabulary, `[chunk, vocab]`, and what it is divided by: log Σ exp, `[chunk, 1]`. */
function chunkSoftmax(body: Graph, states: Value, inputs: TokenHeadInputs) {
  const { logits, slope } = cappedLogits(body, ops.matmul(body, states, inputs.head, { transposeB: true }), inputs);
  const total = logSumExp(body, logits);
  const logprobs = ops.sub(body, logits, total);
  return { total, logprobs, probabilities: ops.exp(body, logprobs), slope };
}

/** `slope` multiplies by ∂ capped / ∂ projected = 1 − (capped / cap)². */
function cappedLogits(body: Graph, projected: Value, { softCap }: TokenHeadInputs) {
  const logits = softCapped(body, projected, softCap);
  const slope = (x: Value): Value => {
    if (softCap === null) return x;
    const ratio = ops.div(body, logits, body.scalar(softCap));
    return ops.mul(body, x, ops.sub(body, body.scalar(1), ops.mul(body, ratio, ratio)));
  };
  return { logits, slope };
}

function headGradient(inputs: TokenHeadInputs): GradientRule {
  return (g, node, [grad], wanted) => {
    const column = ops.reshape(g, grad!, [grad!.shape[0]!, 1]);
    const gradientOf = (x: Value | null): Value | null => {
      if (x === inputs.states) return ops.mul(g, column, node.outputs[2]!);
      return x === inputs.head ? weightGradient(g, inputs, node.inputs[0]!, column) : null;
    };
    return readBy(node).map((x, i) => (wanted[i] ? gradientOf(x) : null));
  };
}

/** Σ grad · (1[target] − softmax) ⊗ state, `[vocab, hidden]` */
function weightGradient(g: Graph, inputs: TokenHeadInputs, rounds: Value, grad: Value): Value {
  const { head } = inputs;
  return loop(g, { rounds, carried: [ops.zerosLike(g, head)] }, (body, index, [sum]) => {
    const part = chunkOf(body, inputs, index);
    const { probabilities, slope } = chunkSoftmax(body, part.states, inputs);
    const share = part.slice(grad); // [chunk, 1]
    const pulled = ops.mul(body, slope(probabilities), share); // [chunk, vocab]
    const targetRows = ops.gather(body, head, part.targets);
    const target = cappedLogits(body, ops.reduceSum(body, ops.mul(body, part.states, targetRows), [-1]), inputs);
    const pushed = target.slope(ops.mul(body, part.states, share)); // [chunk, hidden]
    const rows = ops.expandLike(body, ops.reshape(body, part.targets, ['chunk', 1]), pushed);
    const down = ops.sub(body, sum!, ops.matmul(body, pulled, part.states, { transposeA: true }));
    return [ops.scatterAdd(body, down, rows, pushed)];
  })[0]!;
}
