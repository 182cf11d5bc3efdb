// One line of data: its JSON, then what a reader makes of the value, or why it cannot be read.
import { isObject } from '#base/is-object';
import type { ReadLine } from '#domain/sft';
import { parseJson } from '#validation/json-text';
import { problemOf } from './problem.ts';
import { withoutNulls } from './without-nulls.ts';

/** `read` may throw a ValidationError. */
export function readLine<Row>(text: string, read: (value: unknown) => ReadLine<Row>): ReadLine<Row> {
  try {
    const value = parseJson(text);
    return read(isObject(value) ? withoutNulls(value) : value);
  } catch (error) {
    return { problem: problemOf(error) };
  }
}
