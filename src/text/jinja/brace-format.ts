// `'{} has {n:>5}'.format(…)` as Python has it, for the fields that a sandbox allows: names, items and attributes of given values.
import { PythonFloat } from '../python-json.ts';
import type { Budget } from './budget.ts';
import { TemplateError } from './errors.ts';
import { numberText, truncate } from './percent-format.ts';
import { floatText, repr, str } from './texts.ts';
import { characters, isInteger, isNumber, typeName, Undefined, type Value } from './values.ts';

export interface FormatFields {
  readonly positional: readonly Value[];
  readonly named: (name: string) => Value | undefined;
  readonly item: (object: Value, key: Value) => Value;
  readonly attribute: (object: Value, name: string) => Value;
}

export function formatBraces(format: string, fields: FormatFields, budget: Budget): string {
  let automatic = 0;
  const read = (text: string, depth: number): string => {
    if (depth > 2) throw new TemplateError('Max string recursion exceeded');
    let written = '';
    for (let at = 0; at < text.length;) {
      const character = text[at]!;
      if (character !== '{' && character !== '}') {
        written += character;
        at++;
      } else if (text[at + 1] === character && depth === 0) {
        written += character;
        at += 2;
      } else if (character === '}') throw new TemplateError("Single '}' encountered in format string");
      else {
        const end = closing(text, at);
        written += budget.made(field(text.slice(at + 1, end), depth));
        at = end + 1;
      }
    }
    return written;
  };
  const field = (text: string, depth: number): string => {
    const [, path, conversion, spec] = /^([^!:]*)(?:!([^:]*))?(?::([^]*))?$/.exec(text) ?? [];
    if (path === undefined) throw new TemplateError(`the field {${text}} is not supported`);
    let value = find(path);
    if (conversion !== undefined) {
      if (!['r', 's', 'a'].includes(conversion))
        throw new TemplateError(`Unknown conversion specifier '${conversion}'`);
      value = conversion === 's' ? str(value, budget) : repr(value, budget);
    }
    return formatValue(value, spec === undefined ? '' : read(spec, depth + 1), budget);
  };
  const find = (path: string): Value => {
    const [, first, rest] = /^([^.[]*)([^]*)$/.exec(path)!;
    let value: Value;
    if (first === '' || /^\d+$/.test(first!)) {
      const index = first === '' ? automatic++ : Number(first);
      if (index >= fields.positional.length)
        throw new TemplateError('Replacement index out of range for positional args tuple');
      value = fields.positional[index]!;
    } else {
      const named = fields.named(first!);
      if (named === undefined) throw new TemplateError(`KeyError: '${first}'`);
      value = named;
    }
    for (const [, name, key] of rest!.matchAll(/\.([^.[]+)|\[([^\]]*)\]/g)) {
      if (name !== undefined) value = fields.attribute(value, name);
      else value = fields.item(value, /^\d+$/.test(key!) ? Number(key) : key!);
    }
    return value;
  };
  return read(format, 0);
}

function closing(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth === 0) return at;
  }
  throw new TemplateError("expected '}' before end of string");
}

const SPEC = /^(?:([^])?([<>=^]))?([-+ ]?)(z?)(#?)(0?)(\d*)([,_]?)(?:\.(\d+))?([bcdeEfFgGnosxX%]?)$/u;

/** `format(value, spec)`. */
function formatValue(value: Value, spec: string, budget: Budget): string {
  if (spec === '') return str(value, budget);
  const match = SPEC.exec(spec);
  if (!match) throw new TemplateError(`Invalid format specifier '${spec}' for object of type '${typeName(value)}'`);
  const [, fill, align, sign, coerced, alternate, zero, width, grouping, precision, type] =
    match as unknown as string[];
  const columns = Number(width || 0);
  budget.make(columns + Number(precision ?? 0));
  if (value instanceof Undefined) value.fail();
  const isNumeric = isNumber(value); // a bool, too, is written as a number if there is a specifier
  let text: string;
  if (isNumeric)
    text = numeric(value, {
      sign: sign!,
      isCoerced: coerced !== '',
      alternate: alternate !== '',
      grouping: grouping!,
      precision,
      type: type!,
    });
  else {
    if (type !== '' && type !== 's')
      throw new TemplateError(`Unknown format code '${type}' for object of type '${typeName(value)}'`);
    if (typeof value !== 'string')
      throw new TemplateError(`unsupported format string passed to ${typeName(value)}.__format__`);
    for (const [option, name] of [
      [sign, 'Sign'],
      [coerced, 'Negative zero coercion (z)'],
      [alternate, 'Alternate form (#)'],
      [grouping, 'Grouping'],
    ] as const)
      if (option !== '') throw new TemplateError(`${name} not allowed in string format specifier`);
    if (align === '=') throw new TemplateError("'=' alignment not allowed in string format specifier");
    text =
      precision === undefined
        ? str(value, budget)
        : [...characters(str(value, budget))].slice(0, Number(precision)).join('');
  }
  const isZeroed = zero !== '' && align === undefined;
  if (isZeroed && isNumeric && grouping !== '') text = groupedZeros(text, columns, grouping!);
  const missing = columns - characters(text).length;
  if (missing <= 0) return text;
  const with_ = (fill ?? (isZeroed ? '0' : ' ')).repeat(missing);
  const side = align ?? (isZeroed && isNumeric ? '=' : isNumeric ? '>' : '<');
  if (side === '<') return text + with_;
  if (side === '>') return with_ + text;
  if (side === '=') {
    const [, head, rest] = /^([-+ ]?(?:0[bxXo])?)([^]*)$/.exec(text)!;
    return head + with_ + rest;
  }
  const left = Math.floor(missing / 2);
  return with_.slice(0, left * (with_.length / missing)) + text + with_.slice(left * (with_.length / missing));
}

interface NumberSpec {
  readonly sign: string;
  /** -0 is written as 0. */
  readonly isCoerced: boolean;
  readonly alternate: boolean;
  readonly grouping: string;
  readonly precision: string | undefined;
  readonly type: string;
}

function numeric(value: number | bigint | boolean | PythonFloat, spec: NumberSpec): string {
  const { sign, isCoerced, alternate, grouping, precision, type } = spec;
  let text: string;
  if (isInteger(value) && ['', 'd', 'n', 'b', 'o', 'x', 'X', 'c'].includes(type)) {
    if (precision !== undefined) throw new TemplateError('Precision not allowed in integer format specifier');
    if (isCoerced) throw new TemplateError('Negative zero coercion (z) not allowed in integer format specifier');
    const whole = truncate(value);
    if (type === 'c') {
      if (whole < 0n || whole > 0x10ffffn) throw new TemplateError('%c arg not in range(0x110000)');
      return String.fromCodePoint(Number(whole));
    }
    const base = { b: 2, o: 8, x: 16, X: 16 }[type] ?? 10;
    const digits = (whole < 0n ? -whole : whole).toString(base);
    const prefix = alternate && base !== 10 ? `0${type}` : '';
    text =
      (whole < 0n ? '-' : '') +
      prefix +
      grouped(type === 'X' ? digits.toUpperCase() : digits, grouping, base === 10 ? 3 : 4);
  } else {
    const number = Number(value instanceof PythonFloat ? value.value : value);
    const digits = precision === undefined ? null : Number(precision);
    if ('sbodxXc'.includes(type) && type !== '')
      throw new TemplateError(`Unknown format code '${type}' for object of type 'float'`);
    if (type === '%') text = `${numberText(number * 100, 'f', digits)}%`;
    else if (type === '') text = digits === null ? floatText(number) : plain(number, digits);
    else text = numberText(number, type === 'n' ? 'g' : type, digits, alternate);
    if (isCoerced && /^-[0.]*(?:e|$)/.test(text)) text = text.slice(1);
    const [, minus, whole, rest] = /^(-?)(\d*)([^]*)$/.exec(text)!;
    text = minus + grouped(whole!, grouping, 3) + rest;
  }
  return text.startsWith('-') || sign === '' || sign === '-' ? text : sign + text;
}

/** Without a type: as `g`, with at least one digit after the point. */
function plain(value: number, digits: number): string {
  const text = numberText(value, 'g', Math.max(1, digits));
  const exponent =
    value === 0
      ? 0
      : Number(
          Math.abs(value)
            .toExponential(Math.max(1, digits) - 1)
            .split('e')[1],
        );
  if (exponent >= Math.max(1, digits) - 1 && !text.includes('e'))
    return numberText(value, 'e', Math.max(0, digits - 1)).replace(/\.?0*e/, 'e');
  return /[.en]/.test(text) ? text : `${text}.0`;
}

/** `0,000,012.5`: zeros before a number are grouped with its digits, and begin with none of the separators. */
function groupedZeros(text: string, columns: number, separator: string): string {
  const [, head, digits, rest] = /^([-+ ]?(?:0[bxXo])?)([\da-fA-F,_]*)([^]*)$/.exec(text)!;
  const wanted = columns - head!.length - rest!.length;
  const size = /0[bxXo]$/.test(head!) ? 4 : 3;
  let plain = digits!.replaceAll(separator, '');
  while (grouped(plain, separator, size).length < wanted) plain = `0${plain}`;
  return head + grouped(plain, separator, size) + rest;
}

function grouped(digits: string, separator: string, size: number): string {
  if (separator === '') return digits;
  return digits.replace(new RegExp(`\\B(?=(?:.{${size}})+$)`, 'g'), separator);
}
