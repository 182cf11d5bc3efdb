// White space as Python's `str.isspace` and `\s` have it: other characters than JavaScript's.

export const WHITE_SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

const SPACES = new RegExp(`^[${WHITE_SPACE}]+$`);

export const isSpace = (text: string): boolean => SPACES.test(text);

const isSpaceAt = (text: string, at: number): boolean => SPACES.test(text[at]!); // all of them are one UTF-16 unit

export function trimStart(text: string): string {
  let from = 0;
  while (from < text.length && isSpaceAt(text, from)) from++;
  return text.slice(from);
}

export function trimEnd(text: string): string {
  let to = text.length;
  while (to > 0 && isSpaceAt(text, to - 1)) to--;
  return text.slice(0, to);
}

export const trim = (text: string): string => trimEnd(trimStart(text));
