import { expect, test } from 'vitest';
import { parseJson } from './json-text.ts';
import { ownValues } from './own-values.ts';

test('values of a client can be stored as JSON, whatever integers they have', () => {
  const sent = parseJson('{"a":9007199254740993,"b":[{"c":-18446744073709551615}],"d":7}');
  const read = ownValues().parse(sent);
  expect(read).toEqual({ a: '9007199254740993', b: [{ c: '-18446744073709551615' }], d: 7 });
  expect(JSON.parse(JSON.stringify(read))).toEqual(read);
});

test('a key that would be lost is refused', () => {
  const sent = (text: string) => JSON.parse(text) as unknown;
  expect(ownValues().safeParse(sent('{"__proto__":1}')).error?.issues[0]?.message).toContain('Use another name');
  expect(ownValues().parse(sent('{"a":{"__proto__":1}}'))).toEqual(sent('{"a":{"__proto__":1}}'));
});
