// No keyword of JSON Schema is ignored: each is enforced, refused with its place, or an annotation. The list of keywords is the
// specification's own: the properties of its meta schemas.
import { createRequire } from 'node:module';
import { afterAll, describe, expect, test } from 'vitest';
import { parseJson } from '#validation/json-text';
import { parseChatRequest } from '#api/chat/chat-request';
import { accepts, createByteGrammars, jsonSchema } from './byte-grammars.ts';

const require = createRequire(import.meta.url);
const META = ['applicator', 'content', 'core', 'format-annotation', 'meta-data', 'unevaluated', 'validation'];
const metaSchemas = [
  ...META.map((name) => `ajv/dist/refs/json-schema-2020-12/meta/${name}.json`),
  'ajv/dist/refs/json-schema-2020-12/schema.json',
  'ajv/dist/refs/json-schema-draft-07.json',
].map((path) => require(path) as { properties: object });
const KEYWORDS = [...new Set(metaSchemas.flatMap(({ properties }) => Object.keys(properties)))].toSorted();

const grammars = createByteGrammars();
afterAll(() => grammars.close());

type Row = readonly [schema: object | string, good: readonly string[], bad: readonly string[]];
const object = { type: 'object', additionalProperties: false };

const KEPT: Readonly<Record<string, readonly Row[]>> = {
  $ref: [
    [{ $ref: '#/$defs/a', $defs: { a: { type: 'null' } } }, ['null'], ['1']],
    [{ $ref: '#/$defs/a', maxLength: 2, $defs: { a: { type: 'string' } } }, ['"ab"'], ['"abc"', '1']],
  ],
  type: [
    [{ type: 'boolean' }, ['true'], ['null', '1']],
    [{ type: ['null', 'integer'] }, ['null', '-3'], ['1.5', '"a"']],
    [{ type: 'string', anyOf: [{ type: ['integer', 'string'] }] }, ['"a"'], ['1']],
  ],
  const: [
    [{ const: 7 }, ['7'], ['8', '"7"']],
    ['{"const": 9007199254740993}', ['9007199254740993'], ['9007199254740992', '"9007199254740993"']],
    ['{"const": 9007199254740993.0}', ['9007199254740993'], ['9007199254740992']],
    ['{"const": "9007199254740993"}', ['"9007199254740993"'], ['9007199254740993']],
    [{ const: 'ab', type: 'string', maxLength: 2 }, ['"ab"'], ['"abc"']],
  ],
  enum: [
    [{ enum: ['a', 1] }, ['"a"', '1'], ['"b"', '2']],
    [{ type: 'string', enum: ['a', 1, null] }, ['"a"'], ['1', 'null']],
    [{ type: 'integer', enum: [1, 5, 9, 2.5], minimum: 2, exclusiveMaximum: 9 }, ['5'], ['1', '9', '2.5']],
    [{ enum: ['a', 'bb', 'ccc', 'xyz'], minLength: 2, pattern: '^[a-c]+$' }, ['"bb"', '"ccc"'], ['"a"', '"xyz"']],
    ['{"enum": [9223372036854775807, 1]}', ['9223372036854775807', '1'], ['9223372036854775808']],
    [{ type: ['string', 'integer'], enum: ['1234567890123456789', 'a', 7] }, ['"1234567890123456789"', '7'], ['1234567890123456789']],
  ],
  minimum: [
    [{ type: 'integer', minimum: 1 }, ['1', '10'], ['0', '-1']],
    ['{"type": "integer", "minimum": 9007199254740993}', ['9007199254740993'], ['9007199254740992']],
  ],
  maximum: [[{ type: 'integer', maximum: 1 }, ['1', '-10'], ['2']]],
  exclusiveMinimum: [[{ type: 'integer', exclusiveMinimum: 0 }, ['1'], ['0']]],
  exclusiveMaximum: [[{ type: 'number', exclusiveMaximum: 0.5 }, ['0.49', '-1'], ['0.5', '0.6', '1']]],
  multipleOf: [
    [{ type: 'number', multipleOf: 1 }, ['3'], ['3.5']],
    [{ type: 'integer', multipleOf: 5 }, ['0', '5', '-10', '123456789012345'], ['3', '12', '1234567890123456', '05']],
    [{ type: 'number', multipleOf: 7, minimum: 13, maximum: 9_000_000 }, ['14', '21', '7000', '8999998'], ['7', '13', '15', '9000005', '14.0']],
    [{ type: 'integer', multipleOf: 1000 }, ['1000', '-999000', '0'], ['100', '1100']],
    [{ enum: [4, 5, 6.5, 8], multipleOf: 4 }, ['4', '8'], ['5', '6.5']],
  ],
  minProperties: [
    [{ ...object, properties: { a: true, b: true, c: true }, minProperties: 2 }, ['{"a":1,"b":1}', '{"b":1,"c":2}', '{"a":1,"b":1,"c":1}'], ['{}', '{"a":1}', '{"c":1}']],
    [{ type: 'object', minProperties: 1 }, ['{"x":1}', '{"x":1,"y":2}'], ['{}']],
    [{ type: 'object', properties: { a: true }, minProperties: 2 }, ['{"a":1,"x":1}'], ['{"a":1}', '{"x":1,"x":2}']],
  ],
  maxProperties: [
    [{ ...object, properties: { a: true, b: true, c: true }, required: ['c'], maxProperties: 2 }, ['{"c":1}', '{"a":1,"c":1}', '{"b":1,"c":1}'], ['{"a":1,"b":1,"c":1}', '{"a":1,"b":1}', '{}']],
    [{ type: 'object', maxProperties: 2, minProperties: 1 }, ['{"x":1}', '{"x":1,"y":1}'], ['{}', '{"x":1,"y":1,"z":1}']],
    [{ type: 'object', properties: { a: true }, maxProperties: 1 }, ['{}', '{"a":1}', '{"x":1}'], ['{"a":1,"x":1}']],
    [{ type: 'object', maxProperties: 0 }, ['{}'], ['{"a":1}']],
    [{ allOf: [{ type: 'object', maxProperties: 3 }, { maxProperties: 1 }] }, ['{"a":1}'], ['{"a":1,"b":1}']],
  ],
  minLength: [[{ type: 'string', minLength: 2 }, ['"ab"', '"äö"'], ['"a"']]],
  maxLength: [
    [{ type: 'string', maxLength: 2 }, ['"ab"', '""'], ['"abc"']],
    [{ type: 'string', minLength: 4_999, maxLength: 5_000 }, [quoted(4_999), quoted(5_000)], [quoted(4_998), quoted(5_001)]],
  ],
  pattern: [
    [{ type: 'string', pattern: '^[а-я]{2}$' }, ['"да"'], ['"ab"', '"51"']],
    [{ type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 3 }, ['"ab"', '"abc"'], ['"a"', '"abcd"']],
    [{ type: 'string', pattern: '^x(ab)*$', maxLength: 6 }, ['"x"', '"xabab"'], ['"xababab"']],
    [{ type: 'string', pattern: '^(a+|["\\\\]*)$', minLength: 2, maxLength: 2 }, ['"aa"', '"\\\\\\""'], ['"a"', '"\\""', '"aaa"']],
    [{ type: 'string', pattern: '^a', maxLength: 3 }, ['"a"', '"a\\nb"'], ['"b"', '"abcd"']],
  ],
  format: [
    [{ type: 'string', format: 'date' }, ['"2024-02-03"'], ['"today"']],
    [{ type: 'string', format: 'uri', minLength: 1, maxLength: 2083 }, ['"https://example.org/a/b"'], ['"example"']],
    [{ type: 'string', format: 'email', maxLength: 30 }, ['"ann@mail.org"'], [`"ann@${'example.'.repeat(3)}org"`]],
  ],
  properties: [
    [{ ...object, properties: { a: { type: 'null' } } }, ['{"a":null}', '{}'], ['{"a":1}']],
    // Equal small schemas are merged; these are not equal.
    [{ ...object, properties: { a: { pattern: 'a,"minLength":number3' }, b: { pattern: 'a', minLength: 3 } } }, ['{"b":"abc"}'], ['{"b":"a"}', '{"a":"abc"}']],
  ],
  required: [[{ ...object, properties: { a: { type: 'null' } }, required: ['a'] }, ['{"a":null}'], ['{}']]],
  additionalProperties: [
    [{ type: 'object', additionalProperties: { type: 'null' } }, ['{"x":null}'], ['{"x":1}']],
    [{ ...object, properties: {} }, ['{}'], ['{"a":1}']],
  ],
  propertyNames: [
    [{ type: 'object', propertyNames: false }, ['{}'], ['{"a":1}']],
    [{ type: 'object', propertyNames: { type: 'string' } }, ['{"a":1}'], []],
    [{ type: 'object', propertyNames: { pattern: '^[ab]+$' } }, ['{"ab":1}'], ['{"c":1}']],
    [{ type: 'object', propertyNames: { maxLength: 1 }, additionalProperties: { type: 'null' } }, ['{"c":null}'], ['{"cc":null}', '{"c":1}']],
    [{ type: 'object', propertyNames: { enum: ['a', 'b'] }, additionalProperties: { type: 'integer' }, required: ['b'] }, ['{"b":1}', '{"b":2,"a":1}'], ['{"a":1}', '{"b":1,"c":1}']],
    [{ ...object, properties: { a: true, bb: true }, propertyNames: { maxLength: 1 } }, ['{"a":1}'], ['{"bb":1}']],
  ],
  unevaluatedProperties: [
    [{ type: 'object', properties: { a: true }, unevaluatedProperties: false }, ['{"a":1}'], ['{"b":1}']],
    [{ type: 'object', properties: { a: true }, unevaluatedProperties: { type: 'null' } }, ['{"b":null}'], ['{"b":1}']],
    [{ unevaluatedProperties: false, allOf: [{ type: 'object', properties: { a: true } }] }, ['{"a":1}'], ['{"b":1}']],
  ],
  items: [
    [{ type: 'array', items: { type: 'null' } }, ['[]', '[null, null]'], ['[1]']],
    [{ type: 'array', items: [{ type: 'null' }], additionalItems: false }, ['[null]', '[]'], ['[1]', '[null,1]']],
  ],
  additionalItems: [[{ type: 'array', items: [true], additionalItems: { type: 'null' } }, ['[1,null]'], ['[1,2]']]],
  prefixItems: [[{ type: 'array', prefixItems: [{ type: 'null' }] }, ['[null,2]'], ['[1]']]],
  unevaluatedItems: [
    [{ type: 'array', prefixItems: [true], unevaluatedItems: false }, ['[1]'], ['[1,2]']],
    [{ type: 'array', prefixItems: [true], unevaluatedItems: { type: 'null' } }, ['[1,null]'], ['[1,2]']],
  ],
  minItems: [[{ type: 'array', minItems: 1 }, ['[1]'], ['[]']]],
  maxItems: [[{ type: 'array', maxItems: 1 }, ['[1]', '[]'], ['[1,2]']]],
  uniqueItems: [
    [{ type: 'array', items: { enum: ['a', 'b', 1, 1] }, uniqueItems: true, minItems: 1 }, ['["a"]', '["b","a",1]'], ['[]', '["a","a"]', '[1,1]']],
    [{ type: 'array', items: { $ref: '#/$defs/e' }, uniqueItems: true, maxItems: 2, $defs: { e: { enum: ['a', 'b', 'c'] } } }, ['["c","a"]', '[]'], ['["a","b","c"]', '["b","b"]']],
    [{ type: 'array', items: { type: 'boolean' }, uniqueItems: true }, ['[true,false]'], ['[true,true]']],
    [{ type: 'array', items: { type: 'integer' }, uniqueItems: true, maxItems: 1 }, ['[7]'], ['[7,7]']],
    [{ enum: [[1, 1], [1, 2]], uniqueItems: true }, ['[1,2]'], ['[1,1]']],
  ],
  anyOf: [
    [{ anyOf: [{ type: 'null' }, { type: 'boolean' }] }, ['null', 'true'], ['1']],
    [{ ...object, properties: { a: true, b: true }, anyOf: [{ required: ['a'] }, { required: ['b'] }] }, ['{"a":1}', '{"b":1}'], ['{}', '{"c":1}']],
  ],
  oneOf: [
    [{ oneOf: [{ type: 'null' }, { type: 'boolean' }] }, ['null'], ['1']],
    [{ oneOf: [{ type: 'integer' }, { minimum: 2 }] }, ['1', '2.5', '"a"'], ['3']],
    [{ oneOf: [{ const: 'a' }, { const: 'b', title: 'B' }, { enum: ['b', 'c', 1] }, { const: 1.0 }, { const: null }] }, ['"a"', '"c"', 'null'], ['"b"', '1', '"d"']],
    [{ oneOf: [{ const: 2 }, { const: 2 }, { const: [1] }, { const: [1] }, { const: true }] }, ['true'], ['2', '[1]']],
    [{ not: { oneOf: [{ const: 'a' }, { const: 'a' }, { const: 'b' }] } }, ['"a"', '1'], ['"b"']],
    [{ oneOf: ['x', 'y'].map((kind) => ({ ...object, properties: { kind: { const: kind }, n: { type: 'integer' } }, required: ['kind'] })) }, ['{"kind":"x"}', '{"kind":"y","n":1}'], ['{"kind":"z"}', '{}', '{"kind":"x","n":"1"}']],
    [{ oneOf: ['x', 'y'].map((kind) => ({ properties: { kind: { const: kind } }, required: ['kind'] })) }, ['{"kind":"x"}'], ['{"kind":"z"}', '1', '[]']],
    [{ oneOf: ['x', 'y'].map((kind) => ({ ...object, properties: { kind: { const: kind } } })) }, ['{"kind":"x"}'], ['{}', '{"a":1}']],
    // For validators that treat formats as annotations, every string matches both.
    [{ oneOf: [{ type: 'string', format: 'ipv4' }, { type: 'string', format: 'uuid' }, { type: 'null' }] }, ['null'], ['"1.2.3.4"']],
  ],
  allOf: [
    [{ allOf: [{ type: 'integer', minimum: 2 }, { maximum: 4 }] }, ['3'], ['1', '5']],
    [{ allOf: [{ type: 'object', properties: { a: { type: 'null' } }, required: ['a'] }, { properties: { b: { type: 'null' } }, required: ['b'] }] }, ['{"a":null,"b":null}'], ['{"a":null}', '{"b":null}']],
  ],
  contains: [
    [{ type: 'array', contains: { type: 'null' } }, ['[null]', '[1,null,2]'], ['[]', '[1]']],
    [{ type: 'array', contains: { type: 'null' }, maxItems: 2 }, ['[1,null]'], ['[1,2]', '[1,2,null]']],
  ],
  minContains: [[{ type: 'array', contains: { type: 'null' }, minContains: 2 }, ['[null,1,null]'], ['[null,1]']]],
  maxContains: [[{ type: 'array', contains: { type: 'null' }, maxContains: 1 }, ['[null,1]'], ['[null,null]', '[]']]],
  patternProperties: [[{ ...object, patternProperties: { '^a': { type: 'null' } } }, ['{"ab":null}', '{}'], ['{"a":1}', '{"b":null}']]],
  not: [
    [{ not: { type: 'string' } }, ['1', '[]'], ['"a"']],
    [{ type: 'object', not: { required: ['a'] } }, ['{}', '{"b":1}'], ['{"a":1}']],
    [{ type: 'string', not: { pattern: '^a' } }, ['"b"', '""'], ['"a"', '"ab"']],
  ],
  if: [[{ type: 'object', properties: { k: { enum: ['a', 'b'] } }, required: ['k'], if: { properties: { k: { const: 'a' } } }, then: { required: ['x'] }, else: { required: ['y'] } }, ['{"k":"a","x":1}', '{"k":"b","y":1}'], ['{"k":"a","y":1}', '{"k":"b"}']]],
  then: [[{ if: { type: 'integer' }, then: { minimum: 3 } }, ['3', '"a"'], ['2']]],
  else: [[{ if: { type: 'integer' }, else: { type: 'null' } }, ['3', 'null'], ['"a"']]],
  dependentRequired: [[{ type: 'object', dependentRequired: { a: ['b'] } }, ['{}', '{"b":1}', '{"a":1,"b":1}'], ['{"a":1}']]],
  dependentSchemas: [[{ type: 'object', dependentSchemas: { a: { maxProperties: 1 } } }, ['{"a":1}', '{"b":1,"c":1}'], ['{"a":1,"b":1}']]],
  dependencies: [[{ type: 'object', dependencies: { a: ['b'], c: { minProperties: 2 } } }, ['{"a":1,"b":1}', '{"c":1,"d":1}'], ['{"a":1}', '{"c":1}']]],
  $dynamicRef: [[{ $dynamicAnchor: 'n', type: 'object', properties: { next: { $dynamicRef: '#n' } }, additionalProperties: false }, ['{"next":{}}'], ['{"next":1}']]],
}; // prettier-ignore

function quoted(length: number): string {
  return `"${'x'.repeat(length)}"`;
}

/** Names that constrain nothing. */
const ANNOTATIONS = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$recursiveAnchor',
  '$vocabulary',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
]);

describe('the output satisfies the schema', () => {
  test.each(KEYWORDS.filter((keyword) => !ANNOTATIONS.has(keyword) && keyword !== '$recursiveRef'))(
    '%s',
    async (keyword) => {
      expect(KEPT[keyword], `no example of \`${keyword}\``).toBeDefined();
      for (const [schema, good, bad] of KEPT[keyword]!) {
        const verdicts = await Promise.all(
          [...good, ...bad].map((text) => accepts(grammars, jsonSchema(schema), text)),
        );
        const wrong = [...good, ...bad].filter((_, i) => verdicts[i] !== i < good.length);
        expect(wrong, JSON.stringify(schema)).toEqual([]);
      }
    },
  );

  test('and the list of keywords is the specification’s own', () => expect(KEYWORDS.length).toBeGreaterThan(60));
});

describe('a keyword that cannot be enforced is refused with its place in the schema', () => {
  test.each([
    [{ properties: { a: { $recursiveRef: '#' } }, required: ['a'] }, '/properties/a/$recursiveRef'],
    [{ $ref: 'https://example.org/x' }, '/$ref'],
    [{ $ref: '#/$defs/x' }, '/$ref'],
    [{ $ref: '#' }, '/$ref'],
    [{ not: {} }, '/not'],
    [{ type: 'integer', not: { multipleOf: 0.5 } }, '/not/multipleOf'],
    [{ type: 'object', not: { patternProperties: { a: false } } }, '/not/patternProperties'],
    [{ type: 'string', pattern: '(a)\\1' }, '/pattern'],
    [{ type: 'string', pattern: '(a' }, '/pattern'],
    [{ type: 'nothing' }, '/type'],
    [{ anyOf: [] }, '/anyOf'],
    [{ properties: 3 }, '/properties'],
    [{ minLength: -1 }, '/minLength'],
    [{ type: 'integer', minimum: '9007199254740993' }, '/minimum'],
    [{ const: Infinity }, '/const'],
    [{ type: 'array', uniqueItems: 'true' }, '/uniqueItems'],
    [{ properties: { a: { type: 'integer', divisibleBy: 3 } } }, '/properties/a/divisibleBy'],
    [{ disallow: 'string' }, '/disallow'],
    [{ extends: { type: 'string' } }, '/extends'],
  ] as const)('%j', async (schema, place) => {
    const source = JSON.stringify(schema, (_, value: unknown) => (value === Infinity ? '1e400' : value)).replace(
      '"1e400"',
      '1e400',
    );
    await expect(grammars.compile(jsonSchema(source), { payer: 'a' })).rejects.toThrow(`at ${place},`);
  });

  test.each([
    { type: 'string', enum: [1, 2] },
    { type: 'integer', minimum: 3, maximum: 2 },
    { type: 'string', pattern: '^a{3}$', maxLength: 2 },
    { type: 'object', required: ['a'], additionalProperties: false },
    { properties: { a: { $ref: '#' } }, required: ['a'], type: 'object' },
    { type: 'array', items: { enum: [1, 2, 2] }, uniqueItems: true, minItems: 3 },
    { type: 'object', propertyNames: { enum: ['a'] }, minProperties: 2 },
    false,
  ])('no value satisfies %j', async (schema) => {
    await expect(grammars.compile(jsonSchema(schema), { payer: 'a' })).rejects.toThrow('no value satisfies the schema');
  });
});

test('integers beyond 2^53 come through the body of a request as integers', async () => {
  const source =
    '{"type":"integer","minimum":-9223372036854775808,"enum":[9223372036854775807,1,-9223372036854775809]}';
  const sent = (fields: string) =>
    parseChatRequest(parseJson(`{"messages":[{"role":"user","content":"x"}],${fields}}`)).request.constraint!
      .constraint;
  const schema = sent(`"structured_outputs":{"json":${source}}`);
  expect(schema).toMatchObject({ source });
  expect(sent(`"response_format":{"type":"json_schema","json_schema":{"schema":${source}}}`)).toMatchObject({ source });
  const texts = ['9223372036854775807', '1', '9223372036854775806', '-9223372036854775809', '"9223372036854775807"'];
  const verdicts = await Promise.all(texts.map((text) => accepts(grammars, schema, text)));
  expect(verdicts).toEqual([true, true, false, false, false]);
});

test.each(['{"const":1e400}', '{"enum":[-1e400]}', '{"const":{"a":[1e400]}}'])(
  'a number that is beyond all numbers is refused, not taken for null: %s',
  async (source) => {
    const body = `{"messages":[{"role":"user","content":"x"}],"structured_outputs":{"json":${source}}}`;
    const { constraint } = parseChatRequest(parseJson(body)).request;
    for (const sent of [constraint!.constraint, jsonSchema(source)])
      await expect(grammars.open(sent, 1, 'a')).rejects.toThrow(
        /at \/(const|enum), the value contains a number larger than/,
      );
  },
);

test('white space is limited to what people write', async () => {
  const schema = jsonSchema({ type: 'object', properties: { a: { type: 'array', items: { type: 'integer' } } } });
  const value = { a: [1, 2] };
  const written = [0, 2, 4, 8, '\t'].map((indent) => JSON.stringify(value, null, indent));
  for (const text of [...written, '{"a": [1, 2]}', '{ "a" : [ 1, 2 ] }'])
    expect(await accepts(grammars, schema, text)).toBe(true);
  for (const text of ['{  "a":[]}', '{\n\n\n"a":[]}', '{"a":\n[]}', `{\n${' '.repeat(65)}"a":[]}`])
    expect(await accepts(grammars, schema, text), text).toBe(false);
});
