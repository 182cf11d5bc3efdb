// One line of data: its JSON, then what a reader makes of the value, or why it cannot be read.
import type { ReadLine } from '#domain/sft';
import { parseJson } from '#validation/json-text';
import { problemOf } from './problem.ts';

/** `read` may throw a ValidationError. */
export function readLine<Row>(text: string, read: (value: unknown) => ReadLine<Row>): ReadLine<Row> {
  try {
    return read(parseJson(text));
  } catch (error) {
    return { problem: problemOf(error) };
  }
}
