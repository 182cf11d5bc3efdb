// How many rows a list has, from the counts that the server sends with each page of it.
import { whole } from './numbers.ts';

/** The server counts some lists only this far: one more means that there are more. */
const COUNTED_MAX = 10_000;

/** Those of one status, or of all of them ('': all). */
export const countOf = (counts: Readonly<Record<string, number>>, status = ''): number =>
  Object.entries(counts).reduce((sum, [each, count]) => (status === '' || each === status ? sum + count : sum), 0);

/** `20 of 1 008`; or `8`, if all are shown. */
export const partOf = (shown: number, all: number): string =>
  shown < all ? `${whole(shown)} of ${whole(all)}` : whole(all);

/** Of a list that is counted only so far. */
export const boundedTotal = (counts: Readonly<Record<string, number>>, status = ''): string => {
  const count = countOf(counts, status);
  return count > COUNTED_MAX ? `more than ${whole(COUNTED_MAX)}` : whole(count);
};
