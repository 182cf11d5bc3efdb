// `str()` and `repr()` of Python, and values as JSON.
import { DictEntries, PythonFloat, pythonFloatText, pythonJson, type DumpOptions } from '../python-json.ts';
import type { Budget } from './budget.ts';
import { compare } from './compare.ts';
import { TemplateError } from './errors.ts';
import {
  Callable,
  Dict,
  Generated,
  isNumber,
  Namespace,
  Range,
  Tuple,
  typeName,
  Undefined,
  View,
  type Value,
} from './values.ts';

/** What a value costs beside its characters. */
const NODE_SIZE = 16;

/** What {{ … }} writes. Throws for generators and functions, whose text in Python is an address in memory. */
export function str(value: Value, budget: Budget): string {
  return typeof value === 'string' ? value : value instanceof Undefined ? '' : repr(value, budget);
}

export function repr(value: Value, budget: Budget): string {
  budget.make(NODE_SIZE); // lists in lists may have one list many times
  const each = (item: Value) => repr(item, budget);
  if (value === null) return 'None';
  if (typeof value === 'string') return budget.made(quote(value));
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value instanceof PythonFloat) return floatText(value.value);
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(each).join(', ')}]`;
  if (value instanceof Tuple) return `(${value.items.map(each).join(', ')}${value.items.length === 1 ? ',' : ''})`;
  if (value instanceof Dict) return `{${pairs(value.entries(), each)}}`;
  if (value instanceof View) return `${value.kind}([${value.items().map(each).join(', ')}])`;
  if (value instanceof Range) return `range(${value.start}, ${value.stop}${value.step === 1 ? '' : `, ${value.step}`})`;
  if (value instanceof Namespace) return `<Namespace {${pairs([...value.attributes], each)}}>`;
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof Callable && value.text !== null) return value.text();
  throw new TemplateError(`a ${typeName(value)} cannot be written: apply | list to it, or call it`);
}

const pairs = (entries: readonly (readonly [Value, Value])[], each: (value: Value) => string): string =>
  entries.map(([key, value]) => `${each(key)}: ${each(value)}`).join(', ');

/** As `repr(float)`. */
export const floatText = (value: number): string =>
  Number.isFinite(value) ? pythonFloatText(value) : Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Single quotes, unless only single ones occur inside. Unprintable characters are escaped; letters of any script are printable. */
function quote(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\p{C}\p{Z}\\'"]/gu, (character) => {
    if (character === ' ') return character;
    if (character === "'" || character === '"') return character === mark ? `\\${character}` : character;
    const code = character.codePointAt(0)!;
    const [prefix, width] = code < 0x100 ? ['\\x', 2] : code < 0x10000 ? ['\\u', 4] : ['\\U', 8];
    return SHORT_ESCAPES[character] ?? prefix + code.toString(16).padStart(width, '0');
  });
  return mark + escaped + mark;
}

/** `json.dumps`, as Transformers' `tojson` calls it. Throws for what JSON cannot hold, undefined values among them. */
export const jsonText = (value: Value, sortKeys: boolean, options: DumpOptions, budget: Budget): string =>
  budget.made(pythonJson(jsonValue(value, sortKeys, budget), options));

function jsonValue(value: Value, sortKeys: boolean, budget: Budget): unknown {
  budget.make(NODE_SIZE + (typeof value === 'string' ? value.length : 0));
  const each = (item: Value) => jsonValue(item, sortKeys, budget);
  if (Array.isArray(value)) return value.map(each);
  if (value instanceof Tuple) return value.items.map(each);
  if (value instanceof Dict) {
    const entries = [...value.entries()];
    if (sortKeys) entries.sort(([a], [b]) => compare(a, b, budget));
    return new DictEntries(entries.map(([key, item]) => [keyText(key), each(item)]));
  }
  if (value === null || typeof value === 'string' || isNumber(value)) return value;
  const name = value instanceof Callable || value instanceof Generated ? 'function or generator' : typeName(value);
  throw new TemplateError(
    `Object of type ${name} is not JSON serializable${value instanceof Undefined ? `: ${value.message}` : ''}`,
  );
}

function keyText(key: Value): string {
  if (typeof key === 'string') return key;
  if (key === null) return 'null';
  if (typeof key === 'boolean') return String(key);
  if (isNumber(key)) return key instanceof PythonFloat ? pythonFloatText(key.value) : String(key);
  throw new TemplateError(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
}
