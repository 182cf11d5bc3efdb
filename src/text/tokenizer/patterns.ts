// The patterns that parts of a tokenizer.json search for: a text as it stands, or a regular expression.
import { isObject } from '#base/is-object';
import { type Span } from './aligned-text.ts';
import type { Fields } from './fields.ts';
import { createRegex, regexProblem } from './regex/regex.ts';
import { spansOfText } from './split-text.ts';

export type FindSpans = (text: string) => Span[];

/** `{"String": …}` or `{"Regex": …}`. */
export function readPattern(fields: Fields): FindSpans {
  const pattern = fields.raw('pattern');
  const { String: text, Regex: source } = isObject(pattern) ? pattern : {};
  if (typeof text === 'string') return (searched) => spansOfText(searched, text);
  if (typeof source === 'string') return regexSpans(source, fields);
  throw fields.refuse(
    `must have pattern, {"String": …} or {"Regex": …}, got ${JSON.stringify(pattern)?.slice(0, 100)}`,
  );
}

export function regexSpans(source: string, fields: Fields): FindSpans {
  try {
    return createRegex(source).spans;
  } catch (error) {
    throw fields.refuse(regexProblem(source, error));
  }
}
