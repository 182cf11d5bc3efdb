import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { skipUnless } from '../../../../test/support/skipping.ts';
import { branch } from './branch.ts';
import { multipliesBytes, sumsBytesExactly } from './byte-products.ts';
import { Graph, type Value } from './graph.ts';
import * as ops from './ops.ts';

const isLinuxOnX86 = process.platform === 'linux' && process.arch === 'x64';
const options = skipUnless(isLinuxOnX86, 'this is not Linux on x86');

test('sums of bytes are exact on processors with VNNI, and on no other x86', options, async () => {
  const flags = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))![1]!.split(' ');
  expect(await sumsBytesExactly()).toBe(flags.includes('avx512_vnni') || flags.includes('avx_vnni'));
});

test('a graph multiplies bytes if it, or one inside its nodes, does', () => {
  const product = (g: Graph, x: Value) =>
    ops.matmulCodes(
      g,
      ops.quantize(g, x, 1, 128),
      128,
      g.scalar(1),
      g.initializer('codes', new Int8Array(4), [2, 2]),
      g.scalar(1),
    );
  const open = () => {
    const g = new Graph();
    return { g, x: g.input('x', 'float32', ['rows', 2]) };
  };
  const floats = open();
  ops.add(floats.g, floats.x, floats.x);
  const bytes = open();
  product(bytes.g, bytes.x);
  const inside = open();
  const condition = inside.g.input('chosen', 'bool', []);
  branch(
    inside.g,
    { name: 'side', condition },
    (inner) => [product(inner, inside.x)],
    () => [inside.x],
  );
  expect([floats, bytes, inside].map(({ g }) => multipliesBytes(g))).toEqual([false, true, true]);
});
