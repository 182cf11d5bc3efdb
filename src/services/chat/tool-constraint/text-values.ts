// Strings written as bare text, to which no JSON schema can be applied: the words of an enumeration, or a regular expression for their
// characters and length.
import { isObject } from '#base/is-object';
import { CHOICES, DEPTH_MAX, parameterTypes, partsOf } from '#text/tool-parser/parameter-types';
import { targetOf } from './choices.ts';
import { Inexpressible } from './parameters.ts';

/** Schema keywords for strings that cannot be enforced on bare text. */
const BEYOND = ['pattern', 'format', 'not', 'if', '$dynamicRef', 'contentEncoding', 'contentMediaType'];

/** Any text that contains none of these expressions. */
export const anyText = (forbidden: string): string => `${without(forbidden)}*`;

const without = (forbidden: string): string => `(?![\\s\\S]*(?:${forbidden}))[\\s\\S]`;

/**
 * `forbidden`: an expression that must not occur in the text. `root`: the document in which references are resolved. Throws Inexpressible.
 */
export function textPattern(schema: unknown, root: unknown, forbidden: string, isStrict: boolean): string {
  const { min, max } = lengthOf(schema, root, isStrict, 0);
  if (min === 0 && max === Infinity) return anyText(forbidden);
  return `${without(forbidden)}{${min},${max === Infinity ? '' : max}}`;
}

interface Length {
  readonly min: number;
  readonly max: number;
}

const ANY_LENGTH: Length = { min: 0, max: Infinity };

function lengthOf(schema: unknown, root: unknown, isStrict: boolean, depth: number): Length {
  if (!isObject(schema)) return ANY_LENGTH;
  const beyond = isStrict ? BEYOND.find((key) => key in schema) : undefined;
  if (beyond !== undefined) throw new Inexpressible(`\`${beyond}\` of a string is not supported`);
  if (isStrict && '$ref' in schema) targetOf(schema, root);
  const inside = (each: unknown) => lengthOf(each, root, isStrict, depth + 1);
  const lengths = depth > DEPTH_MAX ? [] : partsOf(schema, root).map(inside);
  for (const key of CHOICES) {
    const options = schema[key];
    if (!Array.isArray(options)) continue;
    const texts = options.filter((each) => parameterTypes(each, root).types.has('string')).map(inside);
    const [first = ANY_LENGTH, ...others] = texts;
    if (isStrict && others.some(({ min, max }) => min !== first.min || max !== first.max))
      throw new Inexpressible(`\`${key}\` of strings of several lengths is not supported`);
    lengths.push(others.reduce((a, b) => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) }), first));
  }
  const own = { min: count(schema.minLength, 0), max: count(schema.maxLength, Infinity) };
  return lengths.reduce((a, b) => ({ min: Math.max(a.min, b.min), max: Math.min(a.max, b.max) }), own);
}

const count = (value: unknown, otherwise: number): number => (Number.isSafeInteger(value) ? Number(value) : otherwise);

/** The texts among the values; null: any text. A tool that is not strict does without those that cannot be written. */
export function writableWords(
  values: readonly unknown[] | null,
  isWritable: (word: string) => boolean,
  isStrict: boolean,
): readonly string[] | null {
  const words = values?.filter((word): word is string => typeof word === 'string');
  if (words === undefined) return null;
  const wrong = words.find((word) => !isWritable(word));
  if (!isStrict) return words.some(isWritable) ? words.filter(isWritable) : null;
  if (words.length === 0) throw new Inexpressible('no value is allowed');
  if (wrong !== undefined) throw new Inexpressible(`${JSON.stringify(wrong)} contains a tag of the syntax`);
  return words;
}
