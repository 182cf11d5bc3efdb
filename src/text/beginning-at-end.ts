// Text that arrives in pieces may end in the middle of something that is searched for. Computes how much of the end must be held back
// until the next piece arrives: for stop strings, tags of calls and the end of reasoning.

/** Length of the longest end of `text` with which one of `wanted` begins; none of them is in it as a whole. */
export function beginningAtEnd(text: string, wanted: readonly string[]): number {
  let longest = 0;
  for (const each of wanted) {
    for (let length = Math.min(each.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(each.slice(0, length))) longest = length;
    }
  }
  return longest;
}
