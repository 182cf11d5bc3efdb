// JSON that keeps integers beyond 2^53 exact, also those that end in `.0`: bigint in memory, all digits in the text. JSON.parse
// rounds them. Numbers beyond the range of doubles become Infinity instead of null. An integer with an exponent is a double, as in
// Python: 1e20 and 1e23 come back as the same number, while the digits of 9007199254740993e0 do not survive.
import { randomUUID } from 'node:crypto';
import { isObject } from './is-object.ts';

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;

/** Throws SyntaxError. */
export function parseExactJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text) as unknown;
  const mark = `${randomUUID()}:`; // no input can contain it
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    /^-?\d{16,}(?:\.0+)?$/.test(token) && !Number.isSafeInteger(Number(token))
      ? `"${mark}${token.split('.')[0]}"`
      : token,
  );
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  ) as unknown;
}

/** `order`: of the properties of each object. */
export function stringifyExactJson(value: unknown, order: (part: object) => object = (part) => part): string {
  const mark = `${randomUUID()}:`;
  let found = false;
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (isObject(part)) return order(part);
    if (typeof part !== 'bigint' && !isBeyondNumbers(part)) return part;
    found = true;
    return `${mark}${typeof part === 'bigint' ? part : part > 0 ? '1e999' : '-1e999'}`;
  });
  return found ? text.replaceAll(new RegExp(`"${mark}(-?\\d+(?:e999)?)"`, 'g'), '$1') : text;
}

const isBeyondNumbers = (value: unknown): value is number => value === Infinity || value === -Infinity;

/** Equal values give equal texts, whatever the order of their properties. */
export const canonicalJson = (value: unknown): string =>
  stringifyExactJson(value, (part) =>
    Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  );
