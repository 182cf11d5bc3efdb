// Log-probabilities and entropies of trained tokens, a chunk of them at a time: logits are `[chunk, vocab]`, never
// `[trained, vocab]`, which for a thousand tokens and a vocabulary of 150k would be 600 MB several times over.
//
// The gradient needs no logits either: ∂ logprob / ∂ state = W[target] − softmax · W is computed together with the value, so a frozen
// head costs no more than without chunks. The logits are computed again only if the head or an adapter on it is trained.
import { readBy, type GradientRule, type Graph, type Value } from '../graph/graph.ts';
import { logSumExp } from '../graph/log-sum-exp.ts';
import { loop } from '../graph/loop.ts';
import * as ops from '../graph/ops.ts';
import { softCapped } from '../models/attention.ts';
import type { FrozenMatrix } from './frozen-matrix.ts';

/** Logits are the sum of states · headᵀ over these terms: the head itself, and an adapter on it. */
export interface LogitsTerm {
  /** `[trained, size]`, one state per target. */
  readonly states: Value;
  /** `[vocab, size]` */
  readonly head: FrozenMatrix;
}

export interface TokenHeadInputs {
  readonly terms: readonly LogitsTerm[];
  /** int64 `[trained]` */
  readonly targets: Value;
  /** int64 `[]`: tokens at a time. */
  readonly chunk: Value;
  /** Soft cap of logits, see models/attention.ts. */
  readonly softCap: number | null;
}

export interface TokenHead {
  /** `[trained]`, nats; differentiable in states and heads. */
  readonly logprob: Value;
  /** `[trained]`, nats; no gradient. */
  readonly entropy: Value;
}

/** Without `differentiable`, what only the gradient needs is left out: a third of the work. */
export function tokenHead(g: Graph, inputs: TokenHeadInputs, differentiable = true): TokenHead {
  const { terms, targets, chunk } = inputs;
  const none = (what: string, ...rest: readonly number[]) =>
    g.initializer(`no_${what}`, new Float32Array(0), [0, ...rest]);
  const slopes = differentiable ? terms.map(({ head }, i) => none(`slopes.${i}`, head.shape[1])) : [];
  const options = {
    rounds: ops.quotientUp(g, ops.reshape(g, ops.shapeOf(g, targets), []), chunk),
    carried: [none('logprobs'), none('entropies'), ...slopes],
    gradient: headGradient(inputs),
  };
  const [logprob, entropy] = loop(g, options, (body, index, known) => {
    const part = chunkOf(body, inputs, index);
    const { total, logprobs, probabilities, slope } = chunkSoftmax(body, part, inputs);
    const { targetRows, target } = chunkTargets(body, part, inputs);
    const mean = ops.reduceSum(body, ops.mul(body, probabilities, logprobs), [-1]);
    const found = [ops.sub(body, target.logits, total), ops.neg(body, mean)].map((x) =>
      ops.reshape(body, x, ['chunk']),
    );
    // ∂ logprob / ∂ states, [chunk, size]
    if (differentiable) {
      const sloped = slope(probabilities);
      const slopeOf = (head: Value, i: number) =>
        ops.sub(body, target.slope(targetRows[i]!), ops.matmul(body, sloped, head));
      found.push(...part.heads.map(slopeOf));
    }
    return found.map((x, i) => ops.concat(body, [known[i]!, x], 0, targets.shape[0]));
  });
  return { logprob: logprob!, entropy: ops.stopGradient(g, entropy!) };
}

interface Chunk {
  readonly slice: (x: Value) => Value;
  /** By term, `[chunk, size]`. */
  readonly states: readonly Value[];
  /** By term, `[vocab, size]`. */
  readonly heads: readonly Value[];
  /** `[chunk]` */
  readonly targets: Value;
}

function chunkOf(body: Graph, { terms, targets, chunk }: TokenHeadInputs, index: Value): Chunk {
  const start = ops.mul(body, index, chunk);
  const end = ops.add(body, start, chunk);
  const slice = (x: Value) => ops.slice(body, x, start, end, 'chunk');
  const heads = terms.map(({ head }) => head.within(body));
  return { slice, states: terms.map(({ states }) => slice(states)), heads, targets: slice(targets) };
}

/** Softmax over the vocabulary, `[chunk, vocab]`, and log of its denominator: log Σ exp, `[chunk, 1]`. */
function chunkSoftmax(body: Graph, { states, heads }: Chunk, inputs: TokenHeadInputs) {
  const products = heads.map((head, i) => ops.matmul(body, states[i]!, head, { transposeB: true }));
  const { logits, slope } = cappedLogits(body, sumOf(body, products), inputs);
  const total = logSumExp(body, logits);
  const logprobs = ops.sub(body, logits, total);
  return { total, logprobs, probabilities: ops.exp(body, logprobs), slope };
}

/** The heads' rows of the targets, `[chunk, size]` per term, and their logits, `[chunk, 1]`. */
function chunkTargets(body: Graph, { states, heads, targets }: Chunk, inputs: TokenHeadInputs) {
  const targetRows = heads.map((head) => ops.gather(body, head, targets));
  const products = targetRows.map((rows, i) => ops.reduceSum(body, ops.mul(body, states[i]!, rows), [-1]));
  return { targetRows, target: cappedLogits(body, sumOf(body, products), inputs) };
}

const sumOf = (g: Graph, values: readonly Value[]): Value => values.reduce((sum, x) => ops.add(g, sum, x));

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
  const { terms } = inputs;
  return (g, node, [grad], wanted) => {
    const column = ops.reshape(g, grad!, [grad!.shape[0]!, 1]);
    const read = readBy(node);
    const trained = terms.flatMap(({ head }, i) => (head.value && wanted[read.indexOf(head.value)] ? [i] : []));
    const ofHeads = trained.length > 0 ? weightGradients(g, inputs, trained, node.inputs[0]!, column) : [];
    const gradientOf = (x: Value | null): Value | null => {
      const byStates = terms.findIndex(({ states }) => states === x);
      if (byStates >= 0) return ops.mul(g, column, node.outputs[2 + byStates]!);
      return ofHeads[trained.findIndex((i) => terms[i]!.head.value === x)] ?? null;
    };
    return read.map((x, i) => (wanted[i] ? gradientOf(x) : null));
  };
}

/** Gradients of the heads of these terms: Σ grad · (1[target] − softmax) ⊗ state, `[vocab, size]`. */
function weightGradients(
  g: Graph,
  inputs: TokenHeadInputs,
  trained: readonly number[],
  rounds: Value,
  grad: Value,
): readonly Value[] {
  const carried = trained.map((i) => ops.zerosLike(g, inputs.terms[i]!.head.value!));
  return loop(g, { rounds, carried }, (body, index, sums) => {
    const part = chunkOf(body, inputs, index);
    const { probabilities, slope } = chunkSoftmax(body, part, inputs);
    const { target } = chunkTargets(body, part, inputs);
    const share = part.slice(grad); // [chunk, 1]
    const pulled = ops.mul(body, slope(probabilities), share); // [chunk, vocab]
    return trained.map((term, i) => {
      const states = part.states[term]!;
      const pushed = target.slope(ops.mul(body, states, share)); // [chunk, size]
      const rows = ops.expandLike(body, ops.reshape(body, part.targets, ['chunk', 1]), pushed);
      const down = ops.sub(body, sums[i]!, ops.matmul(body, pulled, states, { transposeA: true }));
      return ops.scatterAdd(body, down, rows, pushed);
    });
  });
}
