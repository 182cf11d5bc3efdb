import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { skipUnless } from '../../../../test/skipping.ts';
import { sumsBytesExactly } from './byte-products.ts';

const isLinuxOnX86 = process.platform === 'linux' && process.arch === 'x64';
const options = skipUnless(isLinuxOnX86, 'this is not Linux on x86');

test('sums of bytes are exact on processors with VNNI, and on no other x86', options, async () => {
  const flags = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))![1]!.split(' ');
  expect(await sumsBytesExactly()).toBe(flags.includes('avx512_vnni') || flags.includes('avx_vnni'));
});
