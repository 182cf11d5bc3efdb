// Numbers in texts, as Python's int() and float() read them: digits of any script, underscores between digits, white space around.
import { trim } from './white-space.ts';

const DIGIT = /\p{Nd}/gu;

/** Digits of other scripts as ASCII: they stand in runs that begin with the zeros. */
const inAscii = (text: string): string =>
  text.replace(DIGIT, (digit) => {
    const code = digit.codePointAt(0)!;
    let zero = code;
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
    return String((code - zero) % 10);
  });

const FLOAT = /^[-+]?(?:(?:\d+_)*\d+\.?(?:(?:\d+_)*\d+)?|\.(?:\d+_)*\d+)(?:e[-+]?(?:\d+_)*\d+)?$/i;

/** As `float(text)`; null: it is no number. */
export function readFloat(given: string): number | null {
  const text = inAscii(trim(given));
  if (FLOAT.test(text)) return Number(text.replaceAll('_', ''));
  const special = /^([-+]?)(inf|infinity|nan)$/i.exec(text);
  if (!special) return null;
  return special[2]!.toLowerCase() === 'nan' ? NaN : special[1] === '-' ? -Infinity : Infinity;
}

const PREFIXED: Readonly<Record<string, number>> = { '0b': 2, '0o': 8, '0x': 16 };

/** As `int(text, base)`; null: it is no number, or there is no such base. */
export function readInteger(given: string, base: number): bigint | null {
  const [, sign, whole] = /^([-+]?)([^]*)$/.exec(inAscii(trim(given)))!;
  const text = whole!.toLowerCase();
  const prefix = PREFIXED[text.slice(0, 2)];
  const hasPrefix = prefix !== undefined && (base === prefix || base === 0);
  const radix = base === 0 ? (prefix ?? 10) : base;
  const digits = hasPrefix ? text.slice(2).replace(/^_/, '') : text;
  if (radix < 2 || radix > 36 || !/^(?:[\da-z]+_)*[\da-z]+$/.test(digits)) return null;
  if (base === 0 && !hasPrefix && /^0[0_]*[^0_]/.test(digits)) return null; // in code, 010 is no number
  let value = 0n;
  for (const digit of digits.replaceAll('_', '')) {
    const size = parseInt(digit, 36);
    if (size >= radix) return null;
    value = value * BigInt(radix) + BigInt(size);
  }
  return sign === '-' ? -value : value;
}
