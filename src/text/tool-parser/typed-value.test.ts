// Values as bare text, with the types that a tool's schema allows, in the syntaxes that write them so.
import { expect, test } from 'vitest';
import { GEMMA4, QWEN3_CODER, type ToolSyntax } from '../tool-parser.ts';

const properties: Readonly<Record<string, unknown>> = {
  ref: { $ref: '#/$defs/Count' },
  refs: { $ref: '#/$defs/Again' },
  loop: { $ref: '#/$defs/Loop' },
  all: { allOf: [{ $ref: '#/$defs/Count' }, { minimum: 1 }] },
  both: { allOf: [{ type: ['string', 'integer'] }, { type: ['integer', 'null'] }] },
  any: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
  maybe: { anyOf: [{ $ref: '#/$defs/Count' }, { type: 'null' }] },
  one: { oneOf: [{ type: 'boolean' }, { type: 'string' }] },
  constant: { const: 5 },
  words: { const: '5' },
  listed: { enum: [1, 2, 'auto'] },
  texts: { enum: ['1', '2'] },
  mixed: { enum: ['1', 2] },
  nothing: {},
  text: { type: 'string' },
  maybeText: { type: ['string', 'null'] },
  real: { type: 'number' },
  flag: { type: 'boolean' },
  object: { properties: { a: { type: 'integer' } } },
  list: { type: 'array', items: { type: 'integer' } },
  loose: { anyOf: [{ type: 'integer' }, { description: 'or a word' }] },
  bounded: { type: 'integer', anyOf: [{ minimum: 3 }, { type: 'null' }] },
  short: { type: 'int' },
  upper: { type: 'BOOLEAN' },
  anchor: { $ref: '#Count' },
  anchored: { $ref: '#count' },
  identified: { $ref: 'https://tools.test/flag' },
  insideIdentified: { $ref: 'https://tools.test/flag#/$defs/Inner' },
  elsewhere: { $ref: 'https://tools.test/none' },
  nullable: { type: 'integer', nullable: true },
  nullableText: { type: 'string', nullable: true },
  notNullable: { type: 'string', nullable: false },
  oldPair: { items: [{ type: 'integer' }], additionalItems: { type: 'boolean' } },
  pair: { prefixItems: [{ type: 'integer' }, { type: 'string' }] },
  map: { type: 'object', additionalProperties: { type: 'integer' } },
};
const definitions = {
  Count: { $anchor: 'count', type: 'integer' },
  Flag: { $id: 'https://tools.test/flag', type: 'boolean', $defs: { Inner: { type: 'number' } } },
  Again: { $ref: '#/$defs/Count' },
  Loop: { $ref: '#/$defs/Loop' },
};
const parameters = { type: 'object', properties, $defs: definitions };
const merged = { $defs: { ...definitions, P: { properties } }, allOf: [{ $ref: '#/$defs/P' }] };

const read = (syntax: ToolSyntax, answer: string, schema: object): unknown => {
  const parser = syntax.createParser([{ type: 'function', function: { name: 'f', parameters: schema } }]);
  const deltas = [...answer].flatMap((piece) => parser.push(piece)).concat(parser.flush());
  return JSON.parse(deltas.map((delta) => (delta.kind === 'arguments' ? delta.text : '')).join(''));
};

test.each([
  ['ref', '3', 3],
  ['refs', '3', 3],
  ['loop', '3', '3'],
  ['all', '3', 3],
  ['both', '3', 3],
  ['any', '3', 3],
  ['any', 'three', 'three'],
  ['maybe', 'null', null],
  ['maybe', '4', 4],
  ['one', 'true', true],
  ['one', 'yes', 'yes'],
  ['constant', '5', 5],
  ['words', '5', '5'],
  ['listed', '2', 2],
  ['listed', 'auto', 'auto'],
  ['texts', '1', '1'],
  ['mixed', '1', '1'],
  ['mixed', '2', 2],
  ['nothing', '5', '5'],
  ['unknown', '5', '5'],
  ['text', 'null', 'null'],
  ['text', '{"a": 1}', '{"a": 1}'],
  ['maybeText', 'null', null],
  ['maybeText', '12', '12'],
  ['real', '2.50', 2.5],
  ['real', '+3', 3],
  ['real', '1e999', '1e999'],
  ['list', '[1e999]', '[1e999]'],
  ['flag', 'False', false],
  ['flag', '1', true],
  ['flag', 'maybe', 'maybe'],
  ['object', '{"a": 1}', { a: 1 }],
  ['object', "{'a': None}", { a: null }],
  ['list', '[1, 2]', [1, 2]],
  ['loose', '5', 5],
  ['loose', 'five', 'five'],
  ['bounded', '5', 5],
  ['short', '5', 5],
  ['upper', 'True', true],
  ['anchor', '{}', '{}'],
  ['anchored', '5', 5],
  ['identified', 'true', true],
  ['insideIdentified', '2.5', 2.5],
  ['elsewhere', '5', '5'],
  ['nullable', 'null', null],
  ['nullable', '5', 5],
  ['nullableText', 'null', null],
  ['nullableText', '5', '5'],
  ['notNullable', 'null', 'null'],
  ['pair', '[1, "1"]', [1, '1']],
] as const)('%s: %j is %j', (name, text, value) => {
  const xml = `<tool_call>\n<function=f>\n<parameter=${name}>\n${text}\n</parameter>\n</function>\n</tool_call>`;
  expect(read(QWEN3_CODER, xml, parameters)).toEqual({ [name]: value });
  expect(read(QWEN3_CODER, xml, merged)).toEqual({ [name]: value });
});

test.each([
  ['text:5', { text: '5' }],
  ['maybeText:null', { maybeText: null }],
  ['ref:5', { ref: 5 }],
  ['ref:<|"|>5<|"|>', { ref: 5 }],
  ['ref:<|"|>five<|"|>', { ref: 'five' }],
  ['text:<|"|>5<|"|>', { text: '5' }],
  ['list:[<|"|>1<|"|>,2]', { list: [1, 2] }],
  ['object:{a:<|"|>1<|"|>}', { object: { a: 1 } }],
  ['pair:[<|"|>1<|"|>,<|"|>two<|"|>]', { pair: [1, 'two'] }],
  ['oldPair:[<|"|>1<|"|>,<|"|>true<|"|>]', { oldPair: [1, true] }],
  ['unknown:5', { unknown: 5 }],
  ['map:{a:<|"|>1<|"|>}', { map: { a: 1 } }],
])('gemma4: %s', (text, value) => {
  expect(read(GEMMA4, `<|tool_call>call:f{${text}}<tool_call|>`, parameters)).toEqual(value);
});

test.each([
  ['additional properties', { additionalProperties: { type: 'integer' } }, 3],
  ['patterns', { patternProperties: { '^a': { type: 'integer' } } }, 3],
  ['a later part', { allOf: [{ properties: { a: {} } }, { properties: { a: { type: 'integer' } } }] }, 3],
  ['a choice', { oneOf: [{ properties: { a: { type: 'boolean' } } }, { properties: { a: { type: 'integer' } } }] }, 3],
  ['forbidden', { additionalProperties: false }, '3'],
])('a parameter has the type of %s', (_, schema, value) => {
  const xml = '<tool_call>\n<function=f>\n<parameter=a>\n3\n</parameter>\n</function>\n</tool_call>';
  expect(read(QWEN3_CODER, xml, schema)).toEqual({ a: value });
});
