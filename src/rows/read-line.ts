// One line of data: its JSON, then what a reader makes of the value, or why it cannot be read.
import { isObject } from '#base/is-object';
import type { ReadLine } from '#domain/sft';
import { parseJson } from '#validation/json-text';
import { problemOf } from './problem.ts';

/** `read` may throw a ValidationError. */
export function readLine<Row>(text: string, read: (value: unknown) => ReadLine<Row>): ReadLine<Row> {
  try {
    const value = parseJson(text);
    const broken = HALF_ESCAPED.test(text) ? brokenText(value) : null;
    if (broken !== null)
      return { problem: `${broken}: has half of a character (a lone \\uD800 to \\uDFFF), which no token stands for` };
    return read(withoutNulls(value));
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

/** Data sets with columns write null in those that a row does not have. */
const withoutNulls = (value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) : value;

/** A row in UTF-8 can have half of a character only as an escape. */
const HALF_ESCAPED = /\\u[dD][89a-fA-F]/;

/** Where a text has half of a character. Encoders would write a replacement for it, and it would be trained. */
function brokenText(value: unknown, path = ''): string | null {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? path : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, item] of Object.entries(value)) {
    const found = brokenText(item, path === '' ? key : `${path}.${key}`);
    if (found !== null) return found;
  }
  return null;
}

const LONE_SURROGATE = /\p{Surrogate}/u;
