// Items that must differ make states that depend on what was written. No text may notice what was written before, in other texts or
// in itself.
import { expect, test } from 'vitest';
import { createConstraintEngine } from './constraint-engine.ts';
import { maskWords } from './thread-messages.ts';

/** A token for each byte, and the one that ends the text. */
const STOP = 256;
const vocabulary = {
  bytes: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  offsets: Uint32Array.from({ length: 258 }, (_, id) => Math.min(id, 256)),
};
const engineOf = () => createConstraintEngine({ vocabulary, vocabSize: 257, stopTokenIds: [STOP] });
const compiled = (schema: object) =>
  engineOf().compile({
    kind: 'json_schema',
    source: JSON.stringify(schema),
    anyWhitespace: true,
    whitespacePattern: null,
    strict: false,
  });
type Compiled = ReturnType<typeof compiled>;

const strings = { type: 'array', items: { type: 'string' }, uniqueItems: true };
const places = {
  type: 'array',
  items: { type: 'object', properties: { id: { type: 'integer' }, n: { type: 'integer' } }, required: ['id'] },
  uniqueItems: true,
};

/** Writes the text, and asks for the mask at every `every`th byte. Returns what was accepted. */
function write(constraint: Compiled, text: string, every = 7): string {
  const written = constraint.begin();
  const mask = new Int32Array(maskWords(257));
  const bytes = Buffer.from(text);
  for (const [at, byte] of bytes.entries()) {
    if (at % every === 0) {
      written.writeMask(mask);
      if (((mask[byte >> 5]! >>> (byte & 31)) & 1) === 0) return bytes.subarray(0, at).toString();
    }
    if (!written.accept(byte)) return bytes.subarray(0, at).toString();
  }
  written.writeMask(mask);
  return ((mask[STOP >> 5]! >>> (STOP & 31)) & 1) === 1 ? text : `${text}…`;
}

test('however many texts were written before, one more is accepted', () => {
  const constraint = compiled(strings);
  for (let answer = 0; answer < 1_000; answer++) {
    const text = JSON.stringify(Array.from({ length: 5 }, (_, i) => `item ${answer}-${i}`));
    expect(write(constraint, text, 50)).toBe(text);
  }
  expect(write(constraint, '["a","a"]', 1)).toBe('["a","a');
});

test('objects that differ in a key are no different', () => {
  const constraint = compiled(places);
  for (let answer = 0; answer < 1_000; answer++) {
    const text = JSON.stringify(Array.from({ length: 4 }, (_, i) => ({ id: 1000 * answer + i, n: i })));
    expect(write(constraint, text, 50)).toBe(text);
  }
});

test('one text may hold many such arrays', () => {
  const many = compiled({ type: 'array', items: strings });
  const text = JSON.stringify(Array.from({ length: 1_200 }, (_, i) => [`a${i}`, `b${i}`, `c${i}`, `d${i}`]));
  expect(write(many, text, 500)).toBe(text);
});

test('objects differ in a key that they may have', () => {
  const items = { type: 'object', properties: { on: { type: 'boolean' }, id: { type: 'integer' } } };
  const optional = compiled({ type: 'array', items, uniqueItems: true });
  expect(write(optional, '[{"id":1},{"id":2}]', 1)).toBe('[{"id":1},{"id":2}]');
  expect(write(optional, '[{"id":1},{"id":1}]', 1)).toBe('[{"id":1},{"id":1');
});

test.each([
  { items: { type: 'array', items: { type: 'integer' } }, minItems: 2 },
  { items: { type: 'object', properties: { at: { type: 'object' } } }, minItems: 2 },
  { items: { type: 'object' }, minItems: 3 },
  { prefixItems: [{ type: 'string' }, { type: 'string' }], minItems: 2 },
])('%j is refused: nothing keeps such items apart', (schema) => {
  const list = { type: 'array', uniqueItems: true, ...schema };
  expect(() => compiled({ type: 'object', properties: { list }, required: ['list'] })).toThrow(
    'at /properties/list/uniqueItems, `uniqueItems` is enforced for scalars, and for objects with a property that has enough different scalars.',
  );
});

test.each([
  { items: { type: 'boolean' }, minItems: 3 },
  { items: { type: 'null' }, minItems: 2 },
])('%j has no value, and that is what the refusal says', (schema) => {
  expect(() => compiled({ type: 'array', uniqueItems: true, ...schema })).toThrow('no value satisfies the schema');
});
