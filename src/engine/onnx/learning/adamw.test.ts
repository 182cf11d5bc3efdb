import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { applyAdamw, clipCoefficient, createAdamwState, globalNorm } from './adamw.ts';

const PARAMS = { learningRate: 0.01, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.1, maxGradNorm: 0 };

test('the first step moves every parameter by the learning rate against the sign of its gradient, after decay', () => {
  const w = Float32Array.of(1, -2, 3);
  const parameters = new Map([['w', w]]);
  applyAdamw(parameters, new Map([['w', Float32Array.of(0.5, -4, 1e-3)]]), createAdamwState(parameters), PARAMS);
  const expected = [1 * 0.999 - 0.01, -2 * 0.999 + 0.01, 3 * 0.999 - 0.01];
  expected.forEach((x, i) => expect(w[i]).toBeCloseTo(x, 5));
});

test('two steps by hand: moments are averaged and corrected for their start at zero', () => {
  const w = Float32Array.of(1);
  const parameters = new Map([['w', w]]);
  const state = createAdamwState(parameters);
  const params = { ...PARAMS, learningRate: 0.1, beta2: 0.9, weightDecay: 0 };
  applyAdamw(parameters, new Map([['w', Float32Array.of(1)]]), state, params); // 1 − 0.1
  applyAdamw(parameters, new Map([['w', Float32Array.of(-1)]]), state, params);
  // m = 0.9·0.1 − 0.1 = −0.01, m̂ = −0.01/0.19; v = 0.9·0.1 + 0.1 = 0.19, v̂ = 1
  expect(w[0]).toBeCloseTo(0.9 + (0.1 * 0.01) / 0.19, 6);
  expect(state.step).toBe(2);
});

test('fifty steps on many tensors follow a double-precision twin', () => {
  const random = createRandom(3);
  const draw = (n: number) => Array.from({ length: n }, () => random.next() * 2 - 1);
  const start = { norm: draw(5), weight: draw(40) };
  const parameters = new Map(Object.entries(start).map(([name, x]) => [name, Float32Array.from(x)]));
  const state = createAdamwState(parameters);
  const decays = (name: string) => name !== 'norm';
  const twin = new Map(Object.entries(start).map(([name, x]) => [name, createTwin(x, decays(name) ? 0.1 : 0)]));
  for (let step = 0; step < 50; step++) {
    const gradients = new Map([...parameters].map(([name, { length }]) => [name, Float32Array.from(draw(length))]));
    const scale = clipCoefficient(globalNorm(gradients), 0.5);
    applyAdamw(parameters, gradients, state, PARAMS, scale, decays);
    for (const [name, gradient] of gradients) twin.get(name)!.step([...gradient].map((g) => g * scale));
  }
  for (const [name, parameter] of parameters) {
    twin.get(name)!.values.forEach((x, i) => expect(Math.abs(parameter[i]! - x)).toBeLessThan(2e-6));
  }
});

test('gradients above the limit are scaled to it, those below are left alone', () => {
  const gradients = new Map([
    ['a', Float32Array.of(3)],
    ['b', Float32Array.of(0, 4)],
  ]);
  expect(globalNorm(gradients)).toBe(5);
  expect(clipCoefficient(5, 1)).toBeCloseTo(1 / 5.000001, 12);
  expect(clipCoefficient(5, 10)).toBe(1);
  expect(clipCoefficient(5, 0)).toBe(1);
});

/** torch's `_single_tensor_adamw`, one scalar at a time in double precision. */
function createTwin(start: readonly number[], weightDecay: number) {
  const values = [...start];
  const m = start.map(() => 0);
  const v = start.map(() => 0);
  let t = 0;
  function step(gradients: readonly number[]): void {
    t++;
    gradients.forEach((g, i) => {
      values[i]! -= PARAMS.learningRate * weightDecay * values[i]!;
      m[i] = m[i]! + (g - m[i]!) * (1 - PARAMS.beta1);
      v[i] = v[i]! * PARAMS.beta2 + g * g * (1 - PARAMS.beta2);
      const mHat = m[i] / (1 - PARAMS.beta1 ** t);
      const vHat = v[i] / (1 - PARAMS.beta2 ** t);
      values[i]! -= (PARAMS.learningRate * mHat) / (Math.sqrt(vHat) + PARAMS.epsilon);
    });
  }
  return { values, step };
}
