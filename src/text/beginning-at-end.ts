// Text that arrives in pieces may end in the middle of something that is looked for. How much of it must be kept back until
// the next piece says: for stop strings, the tags of calls and the end of thinking.

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
