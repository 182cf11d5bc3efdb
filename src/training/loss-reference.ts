// The slow, obvious twin of every engine's lowering: evaluates a LossProgram over plain arrays, with the derivative of the loss by each
// token's logprob, carried forward along the expression. Defines the meaning of a loss program.
import type { LossExpression, LossProgram } from '#engine/loss-program';

export interface TokenInputs {
  /** `[tokens]`, nats */
  readonly logprobs: readonly number[];
  /** `[tokens]`, nats */
  readonly entropies: readonly number[];
  /** `[tokens]` */
  readonly sequenceIds: readonly number[];
  /** `[tokens]` each */
  readonly inputs: Readonly<Record<string, ArrayLike<number>>>;
}

export interface LossValue {
  readonly loss: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** `[tokens]` ∂loss/∂logprob */
  readonly gradient: readonly number[];
}

/** Per token: the value, and its derivative by the logprob of every token (sparse: token → derivative). */
interface Dual {
  readonly value: number;
  readonly slope: ReadonlyMap<number, number>;
}

const flat = (value: number): Dual => ({ value, slope: new Map() });

export function evaluateLoss(program: LossProgram, tokens: TokenInputs): LossValue {
  const count = tokens.logprobs.length;
  const divisor = program.denominator === 'one' ? 1 : count;
  const perToken = evaluate(program.perToken, tokens);
  const gradient = new Array<number>(count).fill(0);
  for (const { slope } of perToken) for (const [token, s] of slope) gradient[token]! += s / divisor;
  const mean = (expression: LossExpression) =>
    evaluate(expression, tokens).reduce((sum, { value }) => sum + value, 0) / count;
  return {
    loss: perToken.reduce((sum, { value }) => sum + value, 0) / divisor,
    metrics: Object.fromEntries(Object.entries(program.metrics).map(([name, expression]) => [name, mean(expression)])),
    gradient,
  };
}

function evaluate(e: LossExpression, tokens: TokenInputs): Dual[] {
  const each = (make: (token: number) => Dual) => tokens.logprobs.map((_, token) => make(token));
  const of = (x: LossExpression) => evaluate(x, tokens);
  const unary = (x: LossExpression, f: (x: number) => number, df: (x: number) => number) =>
    of(x).map((d) => ({ value: f(d.value), slope: scaled(d.slope, df(d.value)) }));
  const binary = (
    e: { x: LossExpression; y: LossExpression },
    f: (x: number, y: number) => number,
    df: (x: number, y: number) => [number, number],
  ) => {
    const ys = of(e.y);
    return of(e.x).map((x, i) => {
      const y = ys[i]!;
      const [dx, dy] = df(x.value, y.value);
      return { value: f(x.value, y.value), slope: sum(scaled(x.slope, dx), scaled(y.slope, dy)) };
    });
  };
  switch (e.op) {
    case 'logprob':
      return each((token) => ({ value: tokens.logprobs[token]!, slope: new Map([[token, 1]]) }));
    case 'entropy':
      return each((token) => flat(tokens.entropies[token]!));
    case 'input':
      return each((token) => flat(tokens.inputs[e.name]![token]!));
    case 'constant':
      return each(() => flat(e.value));
    case 'neg':
      return unary(
        e.x,
        (x) => -x,
        () => -1,
      );
    case 'exp':
      return unary(e.x, Math.exp, Math.exp);
    case 'sqrt':
      return unary(e.x, Math.sqrt, (x) => 0.5 / Math.sqrt(x));
    case 'stopGradient':
      return of(e.x).map(({ value }) => flat(value));
    case 'isNaN':
      return of(e.x).map(({ value }) => flat(Number.isNaN(value) ? 1 : 0));
    case 'add':
      return binary(
        e,
        (x, y) => x + y,
        () => [1, 1],
      );
    case 'sub':
      return binary(
        e,
        (x, y) => x - y,
        () => [1, -1],
      );
    case 'mul':
      return binary(
        e,
        (x, y) => x * y,
        (x, y) => [y, x],
      );
    case 'div':
      return binary(
        e,
        (x, y) => x / y,
        (x, y) => [1 / y, -x / (y * y)],
      );
    case 'min':
      return binary(e, Math.min, (x, y) => (x < y ? [1, 0] : [0, 1]));
    case 'max':
      return binary(e, Math.max, (x, y) => (x > y ? [1, 0] : [0, 1]));
    case 'less':
      return binary(
        e,
        (x, y) => (x < y ? 1 : 0),
        () => [0, 0],
      );
    case 'where': {
      const [xs, ys] = [of(e.x), of(e.y)];
      return of(e.condition).map(({ value }, i) => (value !== 0 ? xs[i]! : ys[i]!));
    }
    case 'largest':
      return overRow(of(e.x), (values) => Math.max(...values));
    case 'smallest':
      return overRow(of(e.x), (values) => Math.min(...values));
    case 'mean': {
      const xs = of(e.x);
      return each(() => meanOf(xs));
    }
    case 'sequenceMean': {
      const xs = of(e.x);
      return each((token) => meanOf(xs.filter((_, i) => tokens.sequenceIds[i] === tokens.sequenceIds[token])));
    }
  }
}

const overRow = (xs: readonly Dual[], f: (values: number[]) => number): Dual[] => {
  const result = flat(f(xs.map(({ value }) => value)));
  return xs.map(() => result);
};

function meanOf(members: readonly Dual[]): Dual {
  const share = 1 / members.length;
  return {
    value: members.reduce((total, { value }) => total + value, 0) * share,
    slope: members.reduce((slope: ReadonlyMap<number, number>, d) => sum(slope, scaled(d.slope, share)), new Map()),
  };
}

const scaled = (slope: ReadonlyMap<number, number>, factor: number): ReadonlyMap<number, number> =>
  new Map(factor === 0 ? [] : [...slope].map(([token, s]) => [token, s * factor]));

function sum(a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
  const total = new Map(a);
  for (const [token, s] of b) total.set(token, (total.get(token) ?? 0) + s);
  return total;
}
