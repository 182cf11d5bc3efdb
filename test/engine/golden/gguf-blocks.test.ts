// Quantised blocks compared with llama.cpp's own package `gguf`: every bit of the values read, and of what Q8_0 writes.
import { expect, test } from 'vitest';
import { ggmlType, ggmlTypeNumber } from '#model-files/gguf/ggml-types';
import { ENCODERS } from '#model-files/gguf/quantize';
import { readFixture } from '../../support/golden/fixture.ts';

interface GgufFixture {
  readonly types: Readonly<Record<string, { readonly bytes: string; readonly float32: string }>>;
  readonly quantized: { readonly float32: string; readonly Q8_0: string };
}

const fixture = readFixture<GgufFixture>('gguf.json');
const bytes = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text, 'base64'));
const floats = (text: string): Float32Array => new Float32Array(bytes(text).buffer);

test.each(Object.entries(fixture.types))('%s is read as llama.cpp reads it', (name, { bytes: blocks, float32 }) => {
  const expected = floats(float32);
  const values = new Float32Array(expected.length);
  ggmlType(ggmlTypeNumber(name))!.decode(bytes(blocks), values);
  expect(values).toEqual(expected);
});

test('Q8_0 is written as llama.cpp writes it', () => {
  expect(ENCODERS.Q8_0(floats(fixture.quantized.float32))).toEqual(bytes(fixture.quantized.Q8_0));
});
