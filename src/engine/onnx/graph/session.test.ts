import { afterEach, expect, test } from 'vitest';
import { branch } from './branch.ts';
import { Graph } from './graph.ts';
import * as ops from './ops.ts';
import { openSession, type Feed, type Session } from './session.ts';

let session: Session;
afterEach(() => session.close());

const open = async (g: Graph) => (session = await openSession(g, { threads: 1 }));
const vector = (...values: number[]): Feed => ({ data: Float32Array.from(values), dims: [values.length] });
const flag = (value: boolean): Feed => ({ data: Uint8Array.of(value ? 1 : 0), dims: [] });
const numbers = (results: Readonly<Record<string, Float32Array>>) =>
  Object.fromEntries(Object.entries(results).map(([name, data]) => [name, [...data]]));

test('a value may be an output under several names and an input of other nodes; so may an input', async () => {
  const g = new Graph();
  const x = g.input('x', 'float32', ['n']);
  const doubled = ops.add(g, x, x);
  g.output('once', doubled);
  g.output('again', doubled);
  g.output('square', ops.mul(g, doubled, doubled));
  g.output('itself', x);
  await open(g);
  expect(numbers(await session.run({ x: vector(1, 2) }))).toEqual({
    once: [2, 4],
    again: [2, 4],
    square: [4, 16],
    itself: [1, 2],
  });
});

test('a held value is available to every run with its present content, until other feeds are held', async () => {
  const g = new Graph();
  g.output('sum', ops.add(g, g.input('a', 'float32', ['n']), g.input('b', 'float32', ['n'])));
  await open(g);
  await expect(session.run({ b: vector(1) })).rejects.toThrow("'a' is missing");
  const a = vector(10);
  session.hold({ a });
  expect(numbers(await session.run({ b: vector(1) }))).toEqual({ sum: [11] });
  a.data[0] = 20;
  expect(numbers(await session.run({ b: vector(1) }))).toEqual({ sum: [21] });
  expect(numbers(await session.run({ a: vector(5), b: vector(1) }))).toEqual({ sum: [6] });
  session.hold({ a: vector(30, 40) });
  expect(numbers(await session.run({ b: vector(1, 2) }))).toEqual({ sum: [31, 42] });
});

test('a branch returns the value of the side that was chosen', async () => {
  const g = new Graph();
  const condition = g.input('chosen', 'bool', []);
  const x = g.input('x', 'float32', ['n']);
  const y = g.input('y', 'float32', ['n']);
  const options = { name: 'side', condition };
  const product = (inner: Graph) => [ops.mul(inner, x, y)];
  const chosen = branch(g, options, product, () => [x])[0]!;
  g.output('result', ops.neg(g, chosen));
  await open(g);
  const feeds = { x: vector(2, 3), y: vector(5, 7) };
  expect(numbers(await session.run({ ...feeds, chosen: flag(true) }))).toEqual({ result: [-10, -21] });
  expect(numbers(await session.run({ ...feeds, chosen: flag(false) }))).toEqual({ result: [-2, -3] });
});
