import { expect, test } from 'vitest';
import { parseJson } from './json-text.ts';
import { ownValues } from './own-values.ts';

test('values of a client can be stored as JSON, whatever integers they have', () => {
  const sent = parseJson('{"a":9007199254740993,"b":[{"c":-18446744073709551615}],"d":7}');
  const read = ownValues().parse(sent);
  expect(read).toEqual({ a: '9007199254740993', b: [{ c: '-18446744073709551615' }], d: 7 });
  expect(JSON.parse(JSON.stringify(read))).toEqual(read);
});
