import { expect, test } from 'vitest';
import { isLark, larkToGbnf } from './lark.ts';

test('rules, terminals, strings, options and repetitions become GBNF', () => {
  const lark = `
    // a command
    start: verb " " NUMBER~2..3 [unit] -> command
    ?verb: "go"i
         | "stop"
    NUMBER: /[0-9]+/
    unit: ("m" | "km")?
  `;
  expect(isLark(lark)).toBe(true);
  const rules = Object.fromEntries(
    larkToGbnf(lark)
      .gbnf.split('\n')
      .map((line) => line.split(' ::= ') as [string, string]),
  );
  expect(Object.keys(rules)).toEqual(['root', 'verb', 'NUMBER', 'unit']);
  expect(rules.NUMBER!.trim()).toBe('expression.0');
  expect(larkToGbnf(lark).patterns).toEqual(new Map([['expression.0', '[0-9]+']]));
  expect(rules.root!.trim()).toBe('verb " " NUMBER{2,3} (unit)?');
  expect(rules.verb).toContain('(("g" | "G") ("o" | "O"))');
  expect(rules.unit!.trim()).toBe('("m" | "km")?');
});

test('characters may be written by their codes, as in Lark', () => {
  const { gbnf } = larkToGbnf(String.raw`start: "\x41\x22\u00e9\U0001F600\n\\x41\d"`);
  expect(gbnf).toBe(larkToGbnf(`start: ${JSON.stringify('A"é😀\n\\x41\\d')}`).gbnf);
});

test('GBNF is left alone', () => {
  expect(isLark('root ::= "a: b"\nx ::= "y"')).toBe(false);
});

test.each([
  ['start: a\n%ignore " "', /line 2, `%ignore` is not supported/],
  ['rule: "a"', /rule `start` is missing/],
  ['start: "a" & "b"', /line 1, `& "b"` is not valid/],
  ['start: /a/i', /flags/],
])('%j is refused by its line', (source, reason) => {
  expect(() => larkToGbnf(source)).toThrow(reason);
});
