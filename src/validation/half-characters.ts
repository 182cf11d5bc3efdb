// Halves of characters (lone surrogates, \uD800 to \uDFFF) in the texts of a value. JSON can name them, but no token stands for one: an encoder
// would write a replacement, and a prompt or a row would say something else than was sent. Pydantic refuses them too.
import { ValidationError, type Loc } from './parse.ts';

/** What came as UTF-8 can have half of a character only as an escape. */
const HALF_ESCAPED = /\\u[dD][89a-fA-F]/;

/** Where a text or a key of `value` has half of a character; null: nowhere. `text`: its JSON. */
export const findHalfCharacter = (text: string, value: unknown): Loc | null =>
  HALF_ESCAPED.test(text) ? findIn(value, []) : null;

/** Throws ValidationError. */
export function refuseHalfCharacters(text: string, value: unknown): void {
  const loc = findHalfCharacter(text, value);
  if (loc !== null) throw halfCharacter(loc);
}

export const halfCharacter = (loc: Loc): ValidationError =>
  new ValidationError([{ type: 'string_unicode', loc: ['body', ...loc], msg: MESSAGE, input: null }]);

const MESSAGE =
  'Input should be a valid string: it has half of a character (a lone \\uD800 to \\uDFFF), which no token stands for';

function findIn(value: unknown, loc: Loc): Loc | null {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? loc : null;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return null;
  for (const key in value) {
    const here = [...loc, Array.isArray(value) ? Number(key) : key];
    const found = LONE_SURROGATE.test(key) ? here : findIn((value as Record<string, unknown>)[key], here);
    if (found !== null) return found;
  }
  return null;
}

const LONE_SURROGATE = /\p{Surrogate}/u;
