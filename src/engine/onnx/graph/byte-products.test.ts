import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sumsBytesExactly } from './byte-products.ts';

const isLinuxOnX86 = process.platform === 'linux' && process.arch === 'x64';

test.runIf(isLinuxOnX86)('sums of bytes are exact on processors with VNNI, and on no other x86', async () => {
  const flags = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))![1]!.split(' ');
  expect(await sumsBytesExactly()).toBe(flags.includes('avx512_vnni') || flags.includes('avx_vnni'));
});
