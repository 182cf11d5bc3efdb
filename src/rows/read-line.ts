// One line of data: its JSON, then what a reader makes of the value, or why it cannot be read.
import { isObject } from '#base/is-object';
import type { ReadLine } from '#domain/sft';
import { parseJson } from '#validation/json-text';
import { problemOf } from './problem.ts';

/** `read` may throw a ValidationError. */
export function readLine<Row>(text: string, read: (value: unknown) => ReadLine<Row>): ReadLine<Row> {
  try {
    return read(withoutNulls(parseJson(text)));
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

/** Data sets with columns write null in those that a row does not have. */
const withoutNulls = (value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) : value;
