// The distance between two tensors. NaN anywhere is infinitely far, so that it never passes a tolerance.
import { invariant } from '#base/invariant';

/** max |a − b| */
export function maxDistance(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  invariant(actual.length === expected.length, `${actual.length} numbers, expected ${expected.length}`);
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    const distance = Math.abs(actual[i]! - expected[i]!);
    if (!(distance <= worst)) worst = Number.isNaN(distance) ? Infinity : distance;
  }
  return worst;
}

/**
 * By token, smallest first, of logits `[tokens, vocab]`. Where two experts are nearly equal, rounded weights may choose the other one: that token is
 * then another.
 */
export function distancesByToken(actual: Float32Array, expected: Float32Array, tokens: number): number[] {
  const vocab = expected.length / tokens;
  const rowOf = (logits: Float32Array, token: number) => logits.subarray(token * vocab, (token + 1) * vocab);
  const distances = Array.from({ length: tokens }, (_, t) => maxDistance(rowOf(actual, t), rowOf(expected, t)));
  return distances.sort((a, b) => a - b);
}

/** max |a − b| ÷ max |b|: a small element of a tensor does not dominate. */
export function relativeDistance(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  const scale = Math.max(...Array.from(expected, Math.abs));
  invariant(scale > 0, 'a tensor of zeros has no relative distance');
  return maxDistance(actual, expected) / scale;
}
