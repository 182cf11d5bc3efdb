// Whether an open object or array can still be completed: checked before every step, so that no step leads into a dead end.
// Pure; knows shapes, and of obligations only whether they are possible.
import type { ArrayShape, ItemChoice, ObjectShape } from './shapes.ts';

/** The keys written so far, by index. */
export type Seen = ReadonlySet<number>;
const NOTHING: Seen = new Set();

export const isAllowed = (shape: ObjectShape, index: number): boolean => shape.keys[index]!.value.possible;

/** The keys that must still be written. Returns null if one of them is impossible. */
export function pending(shape: ObjectShape, seen: Seen): Set<number> | null {
  const missing = new Set<number>();
  const need = (index: number): boolean => {
    if (seen.has(index) || missing.has(index)) return true;
    if (!isAllowed(shape, index)) return false;
    missing.add(index);
    return shape.keys[index]!.needs.every(need);
  };
  for (const { index, required } of shape.keys) if (required && !need(index)) return null;
  for (const index of seen) if (!shape.keys[index]!.needs.every(need)) return null;
  return missing;
}

/** `others`: number of distinct keys of classes so far. */
export function objectFeasible(shape: ObjectShape, seen: Seen = NOTHING, others = 0): boolean {
  const missing = pending(shape, seen);
  if (missing === null) return false;
  const count = seen.size + others;
  if (count + missing.size > shape.max) return false;
  if (count + missing.size >= shape.min) return true;
  return count + room(shape, seen) - others >= shape.min && shape.max >= shape.min;
}

/** How many keys could be added, including keys of classes that are already written. */
function room(shape: ObjectShape, seen: Seen): number {
  let most = 0;
  for (const { index, needs } of shape.keys)
    if (
      !seen.has(index) &&
      isAllowed(shape, index) &&
      (needs.length === 0 || pending(shape, new Set([...seen, index])) !== null)
    )
      most++;
  for (const { value, size } of shape.classes) if (value.possible) most += size;
  return most;
}

export const mayCloseObject = (shape: ObjectShape, seen: Seen, others: number): boolean =>
  pending(shape, seen)?.size === 0 && seen.size + others >= shape.min && seen.size + others <= shape.max;

export const mayAddKey = (shape: ObjectShape, seen: Seen, others: number, index: number): boolean =>
  !seen.has(index) && isAllowed(shape, index) && objectFeasible(shape, new Set([...seen, index]), others);

export const choicesAt = (shape: ArrayShape, index: number): readonly ItemChoice[] =>
  shape.items[Math.min(index, shape.items.length - 1)]!;

export const mayCloseArray = (shape: ArrayShape, length: number, counts: readonly number[]): boolean =>
  length >= shape.min &&
  length <= shape.max &&
  shape.contained.every(({ min, max }, c) => counts[c]! >= min && counts[c]! <= max);

/** The counts after an item; null: one exceeds its maximum. Counts stop where they no longer matter. */
export function counted(
  shape: ArrayShape,
  counts: readonly number[],
  { counted: which }: ItemChoice,
): readonly number[] | null {
  if (which.length === 0) return counts;
  const next = [...counts];
  for (const c of which) {
    const { min, max } = shape.contained[c]!;
    next[c] = max === Infinity ? Math.min(min, next[c]! + 1) : next[c]! + 1;
    if (next[c] > max) return null;
  }
  return next;
}

const ZERO: readonly number[] = [];

/** Whether an array that has `length` items can be completed. */
export function arrayFeasible(shape: ArrayShape, length = 0, given: readonly number[] = ZERO): boolean {
  const counts = given.length === shape.contained.length ? given : shape.contained.map(() => 0);
  return feasibleFrom(shape, length, counts, new Map());
}

function feasibleFrom(
  shape: ArrayShape,
  length: number,
  counts: readonly number[],
  known: Map<string, boolean>,
): boolean {
  if (mayCloseArray(shape, length, counts)) return true;
  if (length >= shape.max) return false;
  const isRest = length >= shape.items.length - 1;
  if (isRest) return restFeasible(shape, length, counts);
  const key = `${length}:${counts.join()}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  known.set(key, false);
  const isFeasible = choicesAt(shape, length).some((choice) => {
    if (!choice.value.possible) return false;
    const next = counted(shape, counts, choice);
    return next !== null && feasibleFrom(shape, length + 1, next, known);
  });
  known.set(key, isFeasible);
  return isFeasible;
}

/** All remaining items have the same choices: each missing contained item takes one, and other items fill up to the minimum. */
function restFeasible(shape: ArrayShape, length: number, counts: readonly number[]): boolean {
  const choices = choicesAt(shape, length).filter(({ value }) => value.possible);
  const missing = shape.contained.map(({ min }, c) => Math.max(0, min - counts[c]!));
  const alone = (c: number) => choices.some(({ counted: which }) => which.length === 1 && which[0] === c);
  const needed = missing.reduce((sum, each) => sum + each, 0);
  if (missing.every((each, c) => each === 0 || alone(c))) {
    const left = Math.max(0, shape.min - length - needed);
    if (needed + left > shape.max - length) return false;
    return (
      left === 0 ||
      choices.some(({ counted: which }) =>
        which.every(
          (c) => shape.contained[c]!.max === Infinity || shape.contained[c]!.max - counts[c]! - missing[c]! >= left,
        ),
      )
    );
  }
  // One kind of item must count for all missing ones at once.
  const together = choices.find(({ counted: which }) => missing.every((each, c) => each === 0 || which.includes(c)));
  if (!together) return false;
  const most = Math.max(Math.max(...missing), shape.min - length);
  return most <= shape.max - length && together.counted.every((c) => counts[c]! + most <= shape.contained[c]!.max);
}
