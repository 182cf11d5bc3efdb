// What may come next in an open object or array; the answers are cached in its frame.
import { parseExactJson } from '#base/exact-json';
import { isObject } from '#base/is-object';
import type { Terms } from '../lexemes/terms.ts';
import { isAllowed, mayAddKey, mayCloseArray, mayCloseObject, objectFeasible, pending } from './feasible.ts';
import type { ArrayFrame, ObjectFrame } from './places.ts';

export function allowedKeys(terms: Terms, frame: ObjectFrame): Uint8Array {
  if (frame.allowed) return frame.allowed;
  const { shape, seen, others } = frame;
  const isSimple = shape.keys.every(({ needs }) => needs.length === 0);
  terms.spend(isSimple ? shape.keys.length / 8 : shape.keys.length ** 2 / 8);
  const missing = isSimple ? pending(shape, seen)!.size : 0;
  const isFull = seen.size + others.length + missing >= shape.max;
  const mayAdd = (index: number) =>
    isSimple
      ? !seen.has(index) && isAllowed(shape, index) && (!isFull || shape.keys[index]!.required)
      : mayAddKey(shape, seen, others.length, index);
  const allowed = Uint8Array.from(shape.sorted, (index) => (mayAdd(index) ? 1 : 0));
  return (frame.allowed = allowed);
}

/** Keys that the schema does not name are allowed only after all required keys: a model that is unsure would write nothing else. */
export const mayAddOther = ({ shape, seen, others }: ObjectFrame): boolean =>
  shape.classes.length > 0 &&
  pending(shape, seen)?.size === 0 &&
  (!shape.counts || objectFeasible(shape, seen, others.length + 1));

export const hasMore = (terms: Terms, frame: ObjectFrame): boolean =>
  (frame.more ??=
    allowedKeys(terms, frame).includes(1) ||
    (mayAddOther(frame) && frame.shape.classes.some(({ value }) => value.possible)));

const mayClose = (frame: ObjectFrame): boolean =>
  (frame.close ??= mayCloseObject(frame.shape, frame.seen, frame.others.length));

export const mayEnd = (frame: ObjectFrame | ArrayFrame): boolean =>
  frame.kind === 'object' ? mayClose(frame) : mayCloseArray(frame.shape, frame.length, frame.counts);

/** The value of the item that ends here which later items must not repeat. */
export function writtenItem({ start, shape }: ArrayFrame, text: Uint8Array): unknown {
  const value = parseExactJson(Buffer.from(text.subarray(start)).toString());
  const key = shape.unique!.key;
  return key !== null && isObject(value) ? value[key] : value;
}
