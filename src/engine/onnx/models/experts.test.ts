import { afterEach, expect, test } from 'vitest';
import { createRandom } from '#base/random';
import type { Experts } from '#model-files/block';
import { pullback } from '../graph/autodiff.ts';
import { Graph, type InitializerData, type Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';
import { openSession, type Session } from '../graph/session.ts';
import { EXPERTS8 } from '../weights/encodings.ts';
import { mixExperts, multiplyRowsAlone, multiplyRowsTogether, type ExpertLinear } from './experts.ts';
import { multiplyCodes } from './w8a8.ts';

let session: Session | null = null;
afterEach(async () => {
  await session?.close();
  session = null;
});

// Odd on purpose: the addresses of such rows are not aligned.
const HIDDEN = 13;
const EXPERTS: Experts = {
  count: 7,
  perToken: 3,
  intermediate: 11,
  normalized: true,
  layers: [true],
  router: 'gate',
  module: 'experts',
  names: { gate: 'gate', up: 'up', down: 'down' },
};
const TOKENS = 40;

const noise = (length: number, seed: number): Float32Array => {
  const random = createRandom(seed);
  return Float32Array.from({ length }, () => random.next() + random.next() - 1);
};
const { count, intermediate } = EXPERTS;
const x = noise(TOKENS * HIDDEN, 1);
const router = noise(count * HIDDEN, 2).map((value, i) => (i < HIDDEN ? value - 2 : value)); // one expert that is rarely chosen
const gateUp = noise(count * 2 * intermediate * HIDDEN, 3);
const down = noise(count * HIDDEN * intermediate, 4);

type Kind = 'alone' | 'together' | 'codes';

function linear(g: Graph, kind: Kind, name: string, weights: Float32Array, shape: readonly number[]): ExpertLinear {
  if (kind === 'codes') {
    const parts = EXPERTS8.encoder(shape);
    const specs = EXPERTS8.specs(name, shape);
    const data = specs.map(({ dtype, shape }) => {
      const size = shape.reduce((a, b) => a * b);
      return dtype === 'uint8' ? new Uint8Array(size) : new Float32Array(size);
    });
    const rowLength = shape.at(-1)!;
    const step = shape[3]!; // one expert at a time
    for (let first = 0; first < weights.length / rowLength; first += step)
      for (const part of parts({
        first,
        count: step,
        values: weights.subarray(first * rowLength, (first + step) * rowLength),
      }))
        data[part.tensor]!.set(part.data as Float32Array, part.at);
    const stacked = specs.map((spec, i) => g.stored({ ...spec, data: data[i] as InitializerData }));
    return { stacked, multiply: (g, x, [codes, scales]) => multiplyCodes(g, x, codes!, scales!) };
  }
  const multiply = kind === 'alone' ? multiplyRowsAlone : multiplyRowsTogether;
  return { stacked: [g.initializer(name, weights, shape)], multiply };
}

function mixture(g: Graph, experts: Experts, kind: Kind): { x: Value; y: Value } {
  const x = g.input('x', 'float32', ['tokens', HIDDEN]);
  const gate = g.initializer('router', router, [count, HIDDEN]);
  const weights = {
    route: (x: Value) => ops.matmul(g, x, gate, { transposeB: true }),
    gateUp: linear(g, kind, 'gate_up', gateUp, [count, 1, 1, 2 * intermediate, HIDDEN]),
    down: linear(g, kind, 'down', down, [count, 1, 1, HIDDEN, intermediate]),
  };
  return { x, y: mixExperts(g, experts, weights, ops.silu, x) };
}

async function open(experts: Experts, kind: Kind, threads = 2) {
  const g = new Graph();
  g.output('y', mixture(g, experts, kind).y);
  await session?.close();
  const opened = (session = await openSession(g, { threads }));
  return async (x: Float32Array) => (await opened.run({ x: { data: x, dims: [x.length / HIDDEN, HIDDEN] } }))['y']!;
}

/** The slow reference: token by token, in float64. */
function mixSlowly(x: Float32Array, { perToken, normalized }: Experts): number[] {
  const dot = (weights: Float32Array, row: number, of: readonly number[]) =>
    of.reduce((sum, value, i) => sum + value * weights[row * of.length + i]!, 0);
  return Array.from({ length: x.length / HIDDEN }, (_, t) => {
    const token = [...x.subarray(t * HIDDEN, (t + 1) * HIDDEN)];
    const scores = Array.from({ length: count }, (_, e) => Math.exp(dot(router, e, token)));
    const total = scores.reduce((a, b) => a + b);
    const probabilities = scores.map((score) => score / total);
    const chosen = [...probabilities.keys()].sort((a, b) => probabilities[b]! - probabilities[a]!).slice(0, perToken);
    const kept = normalized ? chosen.reduce((sum, e) => sum + probabilities[e]!, 0) : 1;
    const y = new Array<number>(HIDDEN).fill(0);
    for (const e of chosen) {
      const row = (i: number) => dot(gateUp, e * 2 * intermediate + i, token);
      const inner = Array.from({ length: intermediate }, (_, i) => {
        const gate = row(i);
        return (gate / (1 + Math.exp(-gate))) * row(intermediate + i);
      });
      for (let o = 0; o < HIDDEN; o++) y[o]! += (probabilities[e]! / kept) * dot(down, e * HIDDEN + o, inner);
    }
    return y;
  }).flat();
}

const distance = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i]!)));

test.each([
  { kind: 'alone', normalized: true, tolerance: 1e-5 },
  { kind: 'together', normalized: false, tolerance: 1e-5 },
  { kind: 'codes', normalized: true, tolerance: 0.05 },
] as const)(
  'rows $kind, normalized $normalized: the result equals that of a loop over tokens',
  async ({ kind, normalized, tolerance }) => {
    const experts = { ...EXPERTS, normalized };
    const run = await open(experts, kind);
    const expected = mixSlowly(x, experts);
    expect(distance(await run(x), expected)).toBeLessThan(tolerance);
    expect(distance(expected, new Float32Array(expected.length))).toBeGreaterThan(0.5);
  },
);

test.each(['alone', 'codes'] as const)('rows %s: a token gets the same bits in any batch', async (kind) => {
  const all = await (await open(EXPERTS, kind, 2))(x);
  const run = await open(EXPERTS, kind, 1);
  for (const size of [1, 2, 3, 8, 17]) {
    for (let first = 0; first + size <= TOKENS; first += size) {
      const part = await run(x.subarray(first * HIDDEN, (first + size) * HIDDEN));
      expect(part, `${size} from ${first}`).toEqual(all.slice(first * HIDDEN, (first + size) * HIDDEN));
    }
  }
});

test.each([true, false])(
  'normalized %s: gradients go through experts and router, as finite differences',
  async (normalized) => {
    const experts = { ...EXPERTS, normalized };
    const g = new Graph();
    const { x: input, y } = mixture(g, experts, 'together');
    const dy = g.input('dy', 'float32', ['tokens', HIDDEN]);
    g.output('dx', pullback(g, y, dy, [input])[0]!);
    session = await openSession(g, { threads: 1 });
    const weights = noise(x.length, 9);
    const dims = [TOKENS, HIDDEN];
    const { dx } = await session.run({ x: { data: x, dims }, dy: { data: weights, dims } });

    const loss = (x: Float32Array) => mixSlowly(x, experts).reduce((sum, value, i) => sum + value * weights[i]!, 0);
    const step = 2 ** -12;
    const slopes = Array.from(x, (_, i) => {
      const [up, down] = [step, -step].map((by) => loss(x.map((value, j) => (i === j ? value + by : value))));
      return (up! - down!) / (2 * step);
    });
    expect(distance(dx!, slopes)).toBeLessThan(2e-3);
  },
);
