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

test('ranges of characters, imported terminals and comments are read', () => {
  const lark = `
    start: LETTER INT   # one of each
    # nothing here
    LETTER: "a".."z" | "é"
    %import common.INT // digits
    %import common (WS, CNAME)
    %import common.NUMBER -> N
  `;
  const { gbnf, patterns } = larkToGbnf(lark);
  expect(gbnf).toContain('LETTER ::=  [\\U00000061-\\U0000007a] | ');
  expect(gbnf).toMatch(/^INT ::= expression\.0$/m);
  expect(gbnf).toMatch(/^N ::= expression\.3$/m);
  expect(patterns.get('expression.0')).toBe('[0-9]+');
});

test('what is ignored may follow each terminal, but not begin the text or stand within one', () => {
  const { gbnf } = larkToGbnf('start: start "+" NUMBER | NUMBER\nNUMBER: "0".."9"+\n%ignore " "\n%ignore /#.*/');
  const rules = Object.fromEntries(gbnf.split('\n').map((line) => line.split(' ::= ') as [string, string]));
  expect(rules['root']!.trim()).toBe('root ("\\u002b" lark.ignored) (NUMBER lark.ignored) | (NUMBER lark.ignored)');
  expect(rules['NUMBER']).not.toContain('ignored');
  expect(rules['lark.ignored']).toBe('( " " |  expression.0)*');
});

test('GBNF is left alone', () => {
  expect(isLark('root ::= "a: b"\nx ::= "y"')).toBe(false);
});

test.each([
  ['start: a\n%import python.NAME', /line 2, `%import python.NAME` is not supported/],
  ['start: A\n%import common.URL', /line 2, `%import common.URL` is not supported/],
  ['start: "z".."a"', /line 1, "z".."a" is not a range/],
  ['start: a\n%declare B', /line 2, `%declare B` is not supported/],
  ['rule: "a"', /rule `start` is missing/],
  ['start: "a" & "b"', /line 1, `& "b"` is not valid/],
  ['start: /a/x', /flags/],
])('%j is refused by its line', (source, reason) => {
  expect(() => larkToGbnf(source)).toThrow(reason);
});
