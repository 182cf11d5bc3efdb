// Which parameters a call is written with, and which schemas are refused, where references and combinations bring them.
import { expect, test } from 'vitest';
import { jsonValue } from './argument-formats.ts';
import { parametersOf } from './parameters.ts';
import { textPattern } from './text-values.ts';

const of = (parameters: object) => ({ type: 'function', function: { name: 'f', parameters } });
const cat = { type: 'object', properties: { kind: { const: 'cat' }, lives: {} }, required: ['kind', 'lives'] };
const dog = { type: 'object', properties: { kind: { const: 'dog' }, bones: {} }, required: ['kind'] };
const names = (parameters: object, isStrict: boolean) =>
  parametersOf(of(parameters), isStrict).map(({ name, required }) => (required ? name : `${name}?`));

test.each([
  [{ $ref: '#/$defs/Cat', $defs: { Cat: cat } }, ['kind', 'lives']],
  [{ allOf: [cat, dog] }, ['kind', 'lives', 'bones?']],
  [{ ...cat, $comment: '', examples: [], 'x-order': 1 }, ['kind', 'lives']],
])('%j has the same parameters, strict or not', (schema, expected) => {
  expect(names(schema, true)).toEqual(expected);
  expect(names(schema, false)).toEqual(expected);
});

test.each([
  [{ oneOf: [cat, dog] }, ['kind', 'lives?', 'bones?'], 'oneOf'],
  [{ ...cat, minProperties: 1 }, ['kind', 'lives'], 'minProperties'],
  [{ ...dog, required: ['id'] }, ['id', 'kind?', 'bones?'], '"id" has no schema'],
  [{ allOf: [{ ...cat, additionalProperties: false }, dog] }, ['kind', 'lives', 'bones?'], 'additionalProperties'],
  [{ allOf: [cat, { $ref: '#/nowhere' }] }, ['kind', 'lives'], '$ref'],
])('%j is refused for a strict tool only', (schema, expected, why) => {
  expect(names(schema, false)).toEqual(expected);
  expect(() => names(schema, true)).toThrow(why);
});

test('a keyword of a string is enforced or refused, wherever the schema has it', () => {
  const root = { $defs: { Id: { type: 'string', pattern: '^a+$' }, Short: { type: 'string', maxLength: 3 } } };
  const pattern = (schema: object) => textPattern(schema, root, '</', true);
  expect(() => pattern({ $ref: '#/$defs/Id' })).toThrow('`pattern`');
  expect(() => pattern({ anyOf: [{ $ref: '#/$defs/Id' }, { type: 'null' }] })).toThrow('`pattern`');
  expect(pattern({ allOf: [{ $ref: '#/$defs/Short' }, { minLength: 1 }] })).toMatch(/\{1,3\}$/);
});

test('a reference in a value is followed in the whole schema of the tool', () => {
  const tool = of({ properties: { a: { type: 'integer' }, b: { $ref: '#/properties/a' } } });
  expect(jsonValue({ $ref: '#/properties/a' }, tool, true)).toMatchObject({
    json_schema: { $defs: { tool: tool.function.parameters } },
  });
});
