import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asPythonKnows, pythonForm, pythonKeys } from './python-form.ts';
import { NumberLimitError, parseSentJson, PYTHON_SEPARATORS, stringifySentJson } from './sent-json.ts';

const again = (text: string) => stringifySentJson(parseSentJson(text));

test.each([
  '{"a":1.0,"b":[-0.0,2,3.0],"c":{"d":100000.0}}',
  '{"2":"b","1":"a","x":{"10":1,"9":2.0}}',
  '{"z":1,"0":2}',
  '[1e+20,1e+22,12345678901234567890,-9007199254740993,NaN,-Infinity,"NaN","1.0"]',
  '[{"__proto__":{"2":1.0,"1":2},"é":"\\"1\\": 2.0"}]',
])('%s reads back', (text) => {
  expect(again(text)).toBe(text);
  expect(stringifySentJson(parseSentJson(again(text)))).toBe(text);
});

test('values are those of JSON.parse', () => {
  const sent = parseSentJson('{"2": 1.0, "1": [1e5, -0.0, 1e400, 1e20], "b": NaN, "2": 3.0}');
  expect(sent).toEqual({ 1: [100_000, -0, Infinity, 1e20], 2: 3, b: 'NaN' });
  expect(JSON.stringify(sent)).toBe('{"1":[100000,0,null,100000000000000000000],"2":3,"b":"NaN"}');
});

test('any value is written and read as JSON.stringify and JSON.parse do, except for integers that those would round', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const text = JSON.stringify(value);
      expect(JSON.parse(stringifySentJson(JSON.parse(text)))).toEqual(JSON.parse(text));
      expect(JSON.parse(again(text))).toEqual(JSON.parse(text));
    }),
  );
});

test('what JSON has no word for is left out, and separators may be Python’s', () => {
  expect(stringifySentJson({ a: undefined, b: [undefined, -Infinity], 1: null })).toBe('{"1":null,"b":[null,-1e999]}');
  expect(stringifySentJson(parseSentJson('{"2":[1.0,2],"1":{}}'), PYTHON_SEPARATORS)).toBe('{"2": [1.0, 2], "1": {}}');
});

test('only what differs from JavaScript is noted', () => {
  for (const text of ['{"1": 1, "2": 2, "a": 0.5}', '["1.0", "1e5", {"a": 1.5}]', '{"01": 1, "00": 2}'])
    expect(pythonForm(parseSentJson(text) as object)).toBeUndefined();
});

test('a copy can be given the notes of its original', () => {
  const sent = parseSentJson('{"2": 1.0, "1": 2, "x": 3.0}') as Record<string, number>;
  const copy = Object.fromEntries(Object.entries({ ...sent, more: 4 }).filter(([key]) => key !== 'x'));
  expect(stringifySentJson(copy)).toBe('{"1":2,"2":1,"more":4}');
  expect(stringifySentJson(asPythonKnows(copy, sent))).toBe('{"2":1.0,"1":2,"more":4}');
  expect(pythonKeys(copy)).toEqual(['2', '1', 'more']);
});

test('text that is not JSON stays so', () => {
  for (const text of ['[1., 1.0]', '[01.0]', '[.0, 1.0]', '{"1" 1.0}', '[1.0e, 1.0]', '[-, 1.0]', '[1.0 "1": 2]'])
    expect(() => parseSentJson(text)).toThrow(SyntaxError);
});

test('limits end what would take long; a text with more notes than allowed has none', () => {
  const limits = { notFiniteMax: 1, longIntegersMax: 1, digitsMax: 20, notesMax: 3 };
  const read = (text: string) => stringifySentJson(parseSentJson(text, 'exact', limits));
  expect(read('{"2":1.0,"1":2.0}')).toBe('{"1":2,"2":1}');
  expect(read('{"2":1.0,"1":2}')).toBe('{"2":1.0,"1":2}');
  expect(read('[1.0,2.0,3.0,-0.0,9007199254740993]')).toBe('[1,2,3,0,9007199254740993]');
  for (const text of ['[NaN,NaN]', `[${'9'.repeat(17)},${'9'.repeat(17)}]`, `[${'9'.repeat(21)}]`])
    expect(() => read(text)).toThrow(NumberLimitError);
});

test('integers beyond 2^53 may be rounded, with notes and without', () => {
  const text = '{"2":1.0,"1":NaN,"3":9007199254740993,"4":9007199254740993.0}';
  const whole = parseSentJson(text, 'rounded') as object;
  expect(whole).toEqual({ 1: 'NaN', 2: 1, 3: 9007199254740992, 4: 9007199254740992 });
  expect(stringifySentJson(whole)).toBe('{"2":1.0,"1":NaN,"3":9007199254740993,"4":9.007199254740992e+15}');
  const limits = { notFiniteMax: 9, longIntegersMax: 9, digitsMax: 99, notesMax: 0 };
  expect(pythonForm(parseSentJson(text, 'rounded', limits) as object)).toBeUndefined();
});

test('notes may be taken only in lists under a key', () => {
  const text =
    '{"a":[1.0],"tools" : [{"2":1.0,"1":[1e5,"]\\""]},9007199254740993],"b":{"tools":[-0.0]},"c":["tools",2.0,NaN],"tools":2.0}';
  const read = parseSentJson(text, { notedUnder: 'tools' });
  expect(read).toEqual(JSON.parse(text.replace('NaN', '"NaN"')));
  expect(stringifySentJson(parseSentJson(text.replace(',"tools":2.0', ''), { notedUnder: 'tools' }))).toBe(
    '{"a":[1],"tools":[{"2":1.0,"1":[100000.0,"]\\""]},9007199254740993],"b":{"tools":[-0.0]},"c":["tools",2,"NaN"]}',
  );
  for (const broken of ['{"tools":[1.0', '{"tools":[1.0}', '{"tools":[1.0,"]', '"tools":[1.0]'])
    expect(() => parseSentJson(broken, { notedUnder: 'tools' })).toThrow(SyntaxError);
});
