// Filters of texts and numbers.
import { PythonFloat } from '../python-json.ts';
import { numberOf } from './compare.ts';
import { TemplateError } from './errors.ts';
import type { Filter } from './filter.ts';
import { bind } from './parameters.ts';
import { readFloat, readInteger } from './read-number.ts';
import { formatPercent, numberText, truncate as truncateNumber } from './percent-format.ts';
import { capitalize, replaceText, STRING_METHODS } from './string-methods.ts';
import { itemOf } from './subscript.ts';
import { jsonText, str } from './texts.ts';
import {
  asCount,
  characters,
  Dict,
  isInteger,
  isIterable,
  isNumber,
  isTrue,
  itemsOf,
  lengthOf,
  Tuple,
  typeName,
  toInteger,
  Undefined,
  type Value,
} from './values.ts';
import { isSpace, WHITE_SPACE } from './white-space.ts';

const NONE = { positional: [], named: new Map<string, Value>() };

const text =
  (name: string, run: (text: string) => string): Filter =>
  (value, given, { budget }) => {
    bind(name, [], given);
    return budget.made(run(budget.made(str(value, budget))));
  };

const join: Filter = (value, given, { budget }) => {
  const [separator = '', attribute] = bind('join', ['d', 'attribute'], given);
  const mark = str(separator, budget);
  const read = (item: Value): Value => {
    if (attribute === undefined || attribute === null) return item;
    const parts = str(attribute, budget).split('.');
    return parts.reduce<Value>((found, part) => itemOf(found, /^\d+$/.test(part) ? Number(part) : part, budget), item);
  };
  const parts = itemsOf(value).map((item) => budget.made(str(read(item), budget)));
  budget.make(parts.length * mark.length);
  return parts.join(mark);
};

const indent: Filter = (value, given, { budget }) => {
  const [width = 4, isFirst = false, isBlank = false] = bind('indent', ['width', 'first', 'blank'], given);
  const space = typeof width === 'string' ? width : ' '.repeat(Math.min(Math.max(0, asCount(width)), 1e6));
  if (value instanceof Undefined) value.fail();
  if (typeof value !== 'string') throw new TemplateError(`can only indent str, not ${typeName(value)}`);
  const source = budget.made(`${value}\n`);
  const lines = STRING_METHODS['splitlines']!(source, NONE, budget) as string[];
  budget.make(lines.length * space.length);
  const indented = isTrue(isBlank)
    ? lines.join(`\n${space}`)
    : [lines[0] ?? '', ...lines.slice(1).map((line) => (line ? space + line : line))].join('\n');
  return isTrue(isFirst) ? space + indented : indented;
};

const tojson: Filter = (value, given, { budget }) => {
  const names = ['ensure_ascii', 'indent', 'separators', 'sort_keys'];
  const [ensureAscii = false, indentation = null, separators = null, sortKeys = false] = bind('tojson', names, given);
  return jsonText(
    value,
    isTrue(sortKeys),
    {
      indent: indentation === null || typeof indentation === 'string' ? indentation : Math.max(0, asCount(indentation)),
      separators:
        separators === null ? null : (itemsOf(separators).map((each) => str(each, budget)) as [string, string]),
      ensureAscii: isTrue(ensureAscii),
    },
    budget,
  );
};

const default_: Filter = (value, given) => {
  const [otherwise = '', isForFalse = false] = bind('default', ['default_value', 'boolean'], given);
  return value instanceof Undefined || (isTrue(isForFalse) && !isTrue(value)) ? otherwise : value;
};

const int: Filter = (value, given) => {
  const [otherwise = 0, base = 10] = bind('int', ['default', 'base'], given);
  if (value instanceof Undefined) value.fail();
  if (isInteger(value)) return numberOf(value);
  if (value instanceof PythonFloat) return Number.isFinite(value.value) ? toInteger(truncateNumber(value)) : otherwise;
  if (typeof value !== 'string') return otherwise;
  const whole = readInteger(value, asCount(base));
  if (whole !== null) return toInteger(whole);
  const number = readFloat(value);
  return number === null || !Number.isFinite(number) ? otherwise : toInteger(BigInt(Math.trunc(number)));
};

const float: Filter = (value, given) => {
  const [otherwise = new PythonFloat(0)] = bind('float', ['default'], given);
  if (value instanceof Undefined) value.fail();
  if (isNumber(value)) return new PythonFloat(Number(numberOf(value)));
  const number = typeof value === 'string' ? readFloat(value) : null;
  return number === null ? otherwise : new PythonFloat(number);
};

const abs: Filter = (value, given) => {
  bind('abs', [], given);
  if (value instanceof PythonFloat) return new PythonFloat(Math.abs(value.value));
  if (!isInteger(value)) throw new TemplateError(`bad operand type for abs(): '${typeName(value)}'`);
  const number = numberOf(value);
  return number < 0 ? -number : number;
};

const round: Filter = (value, given) => {
  const [precision = 0, method = 'common'] = bind('round', ['precision', 'method'], given);
  if (method !== 'common' && method !== 'ceil' && method !== 'floor')
    throw new TemplateError('method must be common, ceil or floor');
  if (value instanceof Undefined) value.fail();
  if (!isNumber(value)) throw new TemplateError(`type ${typeName(value)} doesn't define __round__ method`);
  const digits = asCount(precision);
  if (method === 'common') {
    if (isInteger(value)) {
      const whole = numberOf(value);
      return digits >= 0 ? whole : roundedInteger(BigInt(whole), -digits);
    }
    return new PythonFloat(roundedFloat(value.value, digits));
  }
  const factor = 10 ** digits;
  const scaled = Number(numberOf(value)) * factor;
  const whole = (method === 'ceil' ? Math.ceil(scaled) : Math.floor(scaled)) + 0; // an int in Python: never -0
  return new PythonFloat(whole / factor);
};

/** To a multiple of a power of ten, halves to even. */
function roundedInteger(value: bigint, zeros: number): Value {
  const unit = 10n ** BigInt(Math.min(zeros, 400));
  const low = ((value % unit) + unit) % unit;
  const base = value - low;
  const up = low * 2n > unit || (low * 2n === unit && (base / unit) % 2n !== 0n);
  return toInteger(up ? base + unit : base);
}

function roundedFloat(value: number, digits: number): number {
  if (!Number.isFinite(value)) return value;
  if (digits >= 0) return Number(numberText(value, 'f', Math.min(digits, 100)));
  const unit = 10 ** -digits;
  const quotient = value / unit;
  const floor = Math.floor(quotient);
  const rest = quotient - floor;
  const rounded = (rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor) * unit;
  return rounded === 0 && value < 0 ? -0 : rounded;
}

const format: Filter = (value, { positional, named }, { budget }) => {
  if (named.size > 0 && positional.length > 0)
    throw new TemplateError("can't handle positional and keyword arguments at the same time");
  if (named.size === 0) return formatPercent(str(value, budget), new Tuple(positional), budget);
  const dict = new Dict();
  for (const [name, item] of named) dict.set(name, item);
  return formatPercent(str(value, budget), dict, budget);
};

const replace: Filter = (value, given, { budget }) => {
  const [old, next, count = null] = bind('replace', ['old', 'new', 'count'], given, 2);
  return replaceText(
    str(value, budget),
    str(old!, budget),
    str(next!, budget),
    count === null ? -1 : asCount(count),
    budget,
  );
};

const trim: Filter = (value, given, { budget }) => {
  const [wanted = null] = bind('trim', ['chars'], given);
  return STRING_METHODS['strip']!(str(value, budget), { ...NONE, positional: [wanted] }, budget);
};

const center: Filter = (value, given, { budget }) => {
  const [width = 80] = bind('center', ['width'], given);
  return STRING_METHODS['center']!(str(value, budget), { ...NONE, positional: [width] }, budget);
};

const WORD_BEGINNINGS = new RegExp(`([-${WHITE_SPACE}({[<]+)`);

/** Words begin after white space, hyphens and opening brackets. */
const title = (source: string): string =>
  source
    .split(WORD_BEGINNINGS)
    .map((word) => {
      const [first = '', ...rest] = Array.from(word);
      return first.toUpperCase() + rest.join('').toLowerCase();
    })
    .join('');

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
};

const escape = text('escape', (source) => source.replace(/[&<>'"]/g, (character) => ESCAPES[character]!));

const truncate: Filter = (value, given, { budget }) => {
  const names = ['length', 'killwords', 'end', 'leeway'];
  const [length = 255, killsWords = false, end = '...', leeway = 5] = bind('truncate', names, given);
  const [most, tail, slack] = [asCount(length), str(end, budget), asCount(leeway ?? 5)];
  if (most < lengthOf(tail)) throw new TemplateError(`expected length >= ${lengthOf(tail)}, got ${most}`);
  if (lengthOf(value) <= most + slack) return value;
  if (typeof value !== 'string') throw new TemplateError(`can only truncate str, not ${typeName(value)}`);
  const letters = characters(budget.made(value));
  const cut = [...letters].slice(0, most - lengthOf(tail)).join('');
  if (isTrue(killsWords)) return cut + tail;
  const at = cut.lastIndexOf(' ');
  return (at < 0 ? cut : cut.slice(0, at)) + tail;
};

const wordcount: Filter = (value, given, { budget }) => {
  bind('wordcount', [], given);
  return (budget.made(str(value, budget)).match(/[\p{L}\p{N}_]+/gu) ?? []).length;
};

/** Of RFC 3986; `/` stays. */
const urlencode: Filter = (value, given, { budget }) => {
  bind('urlencode', [], given);
  const quote = (part: Value) =>
    encodeURIComponent(str(part, budget)).replace(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  const quoteInQuery = (part: Value) => quote(part).replaceAll('%20', '+');
  if (typeof value === 'string' || !isIterable(value)) return budget.made(quote(value).replaceAll('%2F', '/'));
  const pairs = value instanceof Dict ? value.entries() : itemsOf(value).map(itemsOf);
  if (pairs.some((pair) => pair.length !== 2)) throw new TemplateError('urlencode needs pairs');
  return budget.made(pairs.map(([key, item]) => `${quoteInQuery(key!)}=${quoteInQuery(item!)}`).join('&'));
};

const filesizeformat: Filter = (value, given, { budget }) => {
  const [isBinary = false] = bind('filesizeformat', ['binary'], given);
  const bytes = isNumber(value) ? Number(numberOf(value)) : readFloat(str(value, budget));
  if (bytes === null) throw new TemplateError(`could not convert string to float: ${str(value, budget)}`);
  const base = isTrue(isBinary) ? 1024 : 1000;
  const units = isTrue(isBinary)
    ? ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB', 'ZiB', 'YiB']
    : ['kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];
  if (bytes === 1) return '1 Byte';
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`;
  const at = units.findIndex((_, i) => bytes < base ** (i + 2));
  const power = at < 0 ? units.length - 1 : at;
  return `${numberText((base * bytes) / base ** (power + 2), 'f', 1)} ${units[power]}`;
};

const length: Filter = (value, given) => {
  bind('length', [], given);
  return lengthOf(value);
};

const xmlattr: Filter = (value, given, { budget }) => {
  const [isSpaced = true] = bind('xmlattr', ['autospace'], given);
  if (!(value instanceof Dict)) throw new TemplateError(`'${typeName(value)}' object has no attribute 'items'`);
  const parts = value.entries().flatMap(([key, item]) => {
    if (item === null || item instanceof Undefined) return [];
    const name = str(key, budget);
    if (/[\s/>=]/.test(name) || isSpace(name))
      throw new TemplateError(`Invalid character in attribute name: '${name}'`);
    const escaped = (each: Value) => str(each, budget).replace(/[&<>'"]/g, (character) => ESCAPES[character]!);
    return [budget.made(`${escaped(key)}="${escaped(item)}"`)];
  });
  return (isTrue(isSpaced) && parts.length > 0 ? ' ' : '') + parts.join(' ');
};

export const TEXT_FILTERS: Readonly<Record<string, Filter>> = {
  abs,
  capitalize: text('capitalize', capitalize),
  center,
  count: length,
  d: default_,
  default: default_,
  e: escape,
  escape,
  filesizeformat,
  float,
  forceescape: escape,
  format,
  indent,
  int,
  join,
  length,
  lower: text('lower', (source) => source.toLowerCase()),
  replace,
  round,
  safe: text('safe', (source) => source),
  string: text('string', (source) => source),
  title: text('title', title),
  tojson,
  trim,
  truncate,
  upper: text('upper', (source) => source.toUpperCase()),
  urlencode,
  wordcount,
  xmlattr,
};
