import { expect, test } from 'vitest';
import { PythonFloat } from './python-json.ts';
import { pythonRepr, pythonText } from './python-text.ts';

// Right column: output of Python 3.11.
test.each([
  ["it's", `"it's"`],
  [`it's "x"`, `'it\\'s "x"'`],
  ['é 🙂 a\tb\n\\', "'é 🙂 a\\tb\\n\\\\'"],
  ['\u0000\u007f\u00a0\u200b\u2028', "'\\x00\\x7f\\xa0\\u200b\\u2028'"],
  ['\u{e0001}', "'\\U000e0001'"],
  [[1, new PythonFloat(1), 2n ** 64n, null, true, 'a'], "[1, 1.0, 18446744073709551616, None, True, 'a']"],
  [new Map<string, unknown>([['k', new Map([['x', []]])]]), "{'k': {'x': []}}"],
])('repr $#', (value, expected) => {
  expect(pythonRepr(value)).toBe(expected);
});

test('text is itself, undefined is empty, the rest is repr', () => {
  expect([pythonText("it's"), pythonText(undefined), pythonText(null), pythonText(false)]).toEqual([
    "it's",
    '',
    'None',
    'False',
  ]);
});
