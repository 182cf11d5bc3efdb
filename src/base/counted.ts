// A number with its noun, in the right form.

/** `1 file`, `2 files`, `1 entry`, `2 entries` */
export const counted = (count: number, noun: string): string => `${count} ${inNumber(count, noun)}`;

/** The noun alone, where the number is written in another way. */
export const inNumber = (count: number, noun: string): string => (count === 1 ? noun : pluralOf(noun));

/** Regular nouns only. */
const pluralOf = (noun: string): string =>
  /[^aeiou]y$/.test(noun) ? noun.replace(/y$/, 'ies') : /(ch|sh|s|x)$/.test(noun) ? `${noun}es` : `${noun}s`;
