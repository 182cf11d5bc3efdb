// A value that was written as bare text, as JSON text of a type that the tool's schema allows. The order of types is vLLM's
// (coerce_to_schema_type, 0.32): null, numbers, booleans, objects and lists, then the text itself.
import { isDeepStrictEqual } from 'node:util';
import type { JsonType, ParameterTypes } from './parameter-types.ts';
import { pythonLiteralJson } from './python-literal.ts';

const ORDER: readonly JsonType[] = ['null', 'integer', 'number', 'boolean', 'object', 'array', 'string'];

/** What is a value of none of its types is passed on as JSON or Python's literal, if it is one, or else as a string. */
export function typedValue(text: string, { types, values }: ParameterTypes): string {
  const candidates = ORDER.filter((type) => types.has(type))
    .map((type) => READ[type](text))
    .filter((json) => json !== null);
  const listed = values === null ? undefined : candidates.find((json) => isAmong(json, values));
  const word = text.trim();
  const otherwise = () => (/^(null|none)$/i.test(word) ? 'null' : (jsonOf(word) ?? pythonLiteralJson(word)));
  return listed ?? candidates[0] ?? otherwise() ?? JSON.stringify(text);
}

const isAmong = (json: string, values: readonly unknown[]): boolean => {
  const value: unknown = JSON.parse(json);
  return values.some((each) => isDeepStrictEqual(each, value));
};

/** Null: the text is no value of this type. */
const READ: Readonly<Record<JsonType, (text: string) => string | null>> = {
  null: (text) => (/^\s*(null|none)\s*$/i.test(text) ? 'null' : null),
  integer: (text) => numberOf(text, /^-?\d+$/),
  number: (text) => numberOf(text, /^-?\d/),
  boolean: (text) => {
    const word = text.trim().toLowerCase();
    return word === 'true' || word === '1' ? 'true' : word === 'false' || word === '0' ? 'false' : null;
  },
  object: (text) => containerOf(text, '{'),
  array: (text) => containerOf(text, '['),
  string: (text) => JSON.stringify(text),
};

/** Also as `float()` reads it: `+5`, `.5`, `007`, `1_000`. */
function numberOf(text: string, form: RegExp): string | null {
  const json = jsonOf(text.trim()) ?? writtenNumber(text.trim());
  return json !== null && form.test(json) && Number.isFinite(Number(json)) ? json : null;
}

function writtenNumber(word: string): string | null {
  const parts = /^([+-]?)(\d+(?:_\d+)*)?(?:(\.)(\d+(?:_\d+)*)?)?([eE][+-]?\d+)?$/.exec(word);
  if (!parts || (parts[2] === undefined && parts[4] === undefined)) return null;
  const [, sign, whole = '0', dot, fraction = '0', exponent = ''] = parts;
  const digits = (each: string) => each.replaceAll('_', '');
  const integer = digits(whole).replace(/^0+(?=\d)/, '');
  return `${sign === '-' ? '-' : ''}${integer}${dot === undefined ? '' : `.${digits(fraction)}`}${exponent}`;
}

function containerOf(text: string, open: '{' | '['): string | null {
  const json = jsonOf(text.trim()) ?? pythonLiteralJson(text.trim());
  return json?.startsWith(open) === true ? json : null;
}

/** Numbers beyond those of JSON's readers (`1e999`) make it text. */
function jsonOf(text: string): string | null {
  let isFinite = true;
  try {
    JSON.parse(text, (_, value: unknown) => (isFinite &&= Math.abs(value as number) !== Infinity));
    return isFinite ? text : null;
  } catch {
    return null;
  }
}
