// Finds which tokens of an encoded text stand for a span of its characters, by their places, as `char_to_token` of Transformers does.
import type { PlacedTokens, Tokenizer } from './tokenizer.ts';

/** Tokens `first` to `end`, without `end`. */
export interface TokenSpan {
  readonly first: number;
  readonly end: number;
}

/** Places are those of JavaScript (UTF-16). */
export type FindTokens = (from: number, to: number) => TokenSpan;

export function createTokenSpans(
  { ids, begins, ends }: PlacedTokens,
  { isSpecial, sourceText }: Pick<Tokenizer, 'isSpecial' | 'sourceText'>,
): FindTokens {
  return (from, to) => {
    let first = firstThat(ids.length, (i) => ends[i]! > from);
    // A special token may take the spaces beside it: what begins among those begins after it.
    const id = ids[first];
    if (id !== undefined && isSpecial(id) && begins[first]! + sourceText(id).length <= from) first++;
    return { first, end: firstThat(ids.length, (i) => begins[i]! >= to) };
  };
}

/** Binary search, as places never decrease; `count` if there is none. */
function firstThat(count: number, holds: (i: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
