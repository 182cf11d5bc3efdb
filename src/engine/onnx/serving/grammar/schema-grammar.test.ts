// What is refused, and how it is said. That what is accepted is kept to: test/properties/structured-output.test.ts.
import { describe, expect, test } from 'vitest';
import { patternGrammar } from './pattern-grammar.ts';
import { schemaGrammar } from './schema-grammar.ts';

const grammar = (schema: unknown) =>
  schemaGrammar(schema, { anyWhitespace: false, whitespacePattern: null, strict: false });
const root = (schema: unknown) => /^root ::= (.*)$/m.exec(grammar(schema))![1];

describe('a schema that cannot be kept to is refused by place and reason', () => {
  test.each([
    [{ type: 'integer', multipleOf: 3 }, /at \/multipleOf, `multipleOf` cannot be kept to/],
    [{ properties: { a: { uniqueItems: true } } }, /at \/properties\/a\/uniqueItems/],
    [{ type: 'nothing' }, /at \/type, "nothing" is no type/],
    [{ $ref: 'https://example.org/x' }, /at \/\$ref, only references into the schema itself/],
    [{ $ref: '#/$defs/x' }, /there is nothing at #\/\$defs\/x/],
    [
      { type: 'object', required: ['a'], additionalProperties: false },
      /`a` is required, but other properties are forbidden/,
    ],
    [{ type: 'integer', minimum: 3, maximum: 2 }, /no number lies between/],
    [{ type: 'string', pattern: '(?=a)b' }, /at \/pattern, \(\?=…\) cannot be expressed/],
    [{ type: 'string', pattern: '(a' }, /a group is not closed/],
    [{ type: 'string', pattern: 'a', maxLength: 3 }, /cannot both be kept to/],
    [{ anyOf: [] }, /must be a list, and not empty/],
    [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, /two of its schemas may both match/],
    [{ type: 'array', maxItems: 1e9 }, /an integer from 0 to 1000/],
    [{ minimum: 3, minLength: 2 }, /it needs a `type`/],
    [false, /`false` allows nothing/],
    [nested(100), /nested more than 64 deep/],
  ])('%j', (schema, reason) => {
    expect(() => grammar(schema)).toThrow(reason);
  });
});

function nested(depth: number): unknown {
  return depth === 0 ? {} : { type: 'array', items: nested(depth - 1) };
}

test('a reference to the schema itself is one rule, however often it is used', () => {
  const list = { type: 'object', properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } } };
  expect(grammar(list).match(/^ref_\d+ ::=/gm)).toHaveLength(1);
});

test.each([
  [{ type: 'integer', minimum: 7, maximum: 1234 }, ['7', '99', '1234'], ['6', '1235', '07', '-7']],
  [{ type: 'integer', minimum: -12, maximum: 3 }, ['-12', '-1', '0', '3'], ['-13', '4', '-0']],
  [{ type: 'number', minimum: 0, maximum: 1 }, ['0', '1', '0.5', '0.001'], ['1.5', '-0.1', '2']],
  [{ type: 'number', exclusiveMinimum: 2, maximum: 9 }, ['3', '2.5', '9'], ['2', '9.5', '10']],
] as const)('%j writes the numbers between its bounds', (schema, good, bad) => {
  const numbers = new RegExp(`^${toRegExp(root(schema)!)}$`);
  for (const text of good) expect(text).toMatch(numbers);
  for (const text of bad) expect(text).not.toMatch(numbers);
});

test.each([
  ['^[a-c]{2,3}$', ['ab', 'abc'], ['a', 'abd', 'abca']],
  ['^(?:yes|no)\\.$', ['yes.', 'no.'], ['yes', 'maybe.']],
  ['^\\d{2}-\\w+$', ['12-a_b'], ['1-a', '12-']],
  ['b', ['abc', 'b'], ['ac']],
  ['^a$|^b', ['a', 'b', 'bcd'], ['ab', 'c']],
] as const)('the pattern %j describes what it describes as a regular expression', (pattern, good, bad) => {
  const strings = new RegExp(`^${toRegExp(patternGrammar(pattern, 'plain'))}$`);
  for (const text of good) expect(text).toMatch(strings);
  for (const text of bad) expect(text).not.toMatch(strings);
});

/** Grammars without rules are regular expressions in another dress. */
function toRegExp(expression: string): string {
  const unescape = (text: string) =>
    text.replace(/\\u([0-9a-f]{4})|\\U([0-9a-f]{8})/g, (_, short: string, long: string) => String.fromCodePoint(parseInt(short ?? long, 16)));
  const quoted = (text: string) => unescape(text).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return expression.replace(/"([^"]*)"|(\[[^\]]*\])|\s+/g, (_, text?: string, set?: string) =>
    text !== undefined ? `(?:${quoted(text)})` : (set ?? ''),
  );
} // prettier-ignore
