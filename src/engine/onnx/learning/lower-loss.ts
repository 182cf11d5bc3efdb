// Translates a LossProgram into graph nodes over the trained tokens. loss-program.ts and its plain evaluation define what
// each op means. Other engines have their own translation; none of them knows a particular loss.
import type { LossExpression, LossProgram } from '../../loss-program.ts';
import type { Graph, Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';

export interface TokenValues {
  /** `[trained]`, nats; differentiable. */
  readonly logprob: Value;
  /** `[trained]`, nats. */
  readonly entropy: Value;
}

export interface LoweredLoss {
  /** `[1]` */
  readonly loss: Value;
  /** `[1]` each */
  readonly metrics: ReadonlyMap<string, Value>;
}

export const lossInputName = (name: string): string => `loss.${name}`;

/** Adds graph inputs for what the program reads: see lossFeeds in train-feeds.ts. */
export function lowerLoss(g: Graph, program: LossProgram, tokens: TokenValues): LoweredLoss {
  const lowering = createLowering(g, tokens);
  const perToken = lowering.tokenValue(program.perToken);
  const reduce = program.denominator === 'one' ? ops.reduceSum : ops.reduceMean;
  return {
    loss: reduce(g, perToken, [0]),
    metrics: new Map(
      Object.entries(program.metrics).map(([name, expression]) => [
        name,
        ops.reduceMean(g, lowering.tokenValue(expression), [0]),
      ]),
    ),
  };
}

function createLowering(g: Graph, tokens: TokenValues) {
  const inputs = new Map<string, Value>();
  const input = (name: string, shape: readonly string[]): Value => {
    const known = inputs.get(name) ?? g.input(name, 'float32', shape);
    inputs.set(name, known);
    return known;
  };

  /** float32 `[trained]`; `[]` or `[1]` for values that do not depend on the token. */
  function value(e: LossExpression): Value {
    switch (e.op) {
      case 'logprob':
        return tokens.logprob;
      case 'entropy':
        return ops.stopGradient(g, tokens.entropy);
      case 'input':
        return input(lossInputName(e.name), ['trained']);
      case 'constant':
        return g.scalar(e.value);
      case 'neg':
        return ops.neg(g, value(e.x));
      case 'exp':
        return ops.exp(g, value(e.x));
      case 'sqrt':
        return ops.sqrt(g, value(e.x));
      case 'stopGradient':
        return ops.stopGradient(g, value(e.x));
      case 'add':
        return ops.add(g, value(e.x), value(e.y));
      case 'sub':
        return ops.sub(g, value(e.x), value(e.y));
      case 'mul':
        return ops.mul(g, value(e.x), value(e.y));
      case 'div':
        return ops.div(g, value(e.x), value(e.y));
      case 'min':
        return ops.minimum(g, value(e.x), value(e.y));
      case 'max':
        return ops.maximum(g, value(e.x), value(e.y));
      case 'isNaN':
      case 'less':
        return ops.stopGradient(g, ops.toFloat(g, truth(e)));
      case 'where':
        return ops.where(g, truth(e.condition), value(e.x), value(e.y));
      case 'sequenceMean':
        return sequenceMean(value(e.x));
      case 'mean':
        return ops.reduceMean(g, tokenValue(e.x), [0]);
      case 'largest':
        return ops.reduceMax(g, ops.stopGradient(g, tokenValue(e.x)), [0]);
      case 'smallest':
        return ops.reduceMin(g, ops.stopGradient(g, tokenValue(e.x)), [0]);
    }
  }

  /** As a bool condition. Steps have no gradient, so their inputs are cut off from it. */
  function truth(e: LossExpression): Value {
    if (e.op === 'isNaN') return ops.isNaN(g, ops.stopGradient(g, value(e.x)));
    if (e.op === 'less') {
      return ops.less(g, ops.stopGradient(g, value(e.x)), ops.stopGradient(g, value(e.y)));
    }
    return ops.less(g, g.scalar(0.5), ops.stopGradient(g, value(e)));
  }

  /** With membership M `[sequences, trained]` of 0 and 1: Mᵀ (M x ÷ M 1). NaN or infinity in x spreads to every token. */
  function sequenceMean(x: Value): Value {
    if (!isPerToken(x)) return x;
    const members = input('membership', ['sequences', 'trained']);
    const column = ops.reshape(g, x, ['trained', 1]);
    const sums = ops.matmul(g, members, column); // [sequences, 1]
    const means = ops.div(g, sums, ops.reduceSum(g, members, [1]));
    return ops.reshape(
      g,
      ops.matmul(g, members, means, { transposeA: true }),
      ['trained'],
      ops.shapeOf(g, tokens.logprob),
    );
  }

  function tokenValue(e: LossExpression): Value {
    const x = value(e);
    return isPerToken(x) ? x : ops.expandLike(g, x, tokens.logprob);
  }

  return { tokenValue };
}

const isPerToken = ({ shape }: Value): boolean => shape.length === 1 && shape[0] !== 1;

/** Whether an expression anywhere in the program has this op. */
export function programUses(program: LossProgram, op: LossExpression['op']): boolean {
  const uses = (e: LossExpression): boolean =>
    e.op === op || Object.values(e).some((part) => typeof part === 'object' && uses(part as LossExpression));
  return uses(program.perToken) || Object.values(program.metrics).some(uses);
}

/** Names of all `input` expressions. */
export function programInputs(program: LossProgram): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (e: LossExpression): void => {
    if (e.op === 'input') names.add(e.name);
    for (const part of Object.values(e)) if (typeof part === 'object') visit(part as LossExpression);
  };
  visit(program.perToken);
  Object.values(program.metrics).forEach(visit);
  return names;
}
