// `'%s has %d' % (name, count)` as Python has it, and how numbers are written in a given type and precision, which str.format shares.
import { PythonFloat } from '../python-json.ts';
import type { Budget } from './budget.ts';
import { TemplateError } from './errors.ts';
import { floatText, repr, str } from './texts.ts';
import { numberOf } from './compare.ts';
import { characters, Dict, isInteger, isNumber, Range, Tuple, typeName, Undefined, type Value } from './values.ts';

const DIRECTIVE = /%(?:\(([^)]*)\))?([-#0 +]*)(\*|\d+)?(?:\.(\*|\d*))?[hlL]?([^])/g;

export function formatPercent(format: string, given: Value, budget: Budget): string {
  const args = given instanceof Tuple ? given.items : [given];
  let used = 0;
  let isNamed = false;
  const next = (): Value => {
    if (used >= args.length) throw new TemplateError('not enough arguments for format string');
    return args[used++]!;
  };
  if (/%$/.test(format.replaceAll('%%', ''))) throw new TemplateError('incomplete format');
  const text = format.replace(
    DIRECTIVE,
    (
      _,
      name: string | undefined,
      flags: string,
      width: string | undefined,
      precision: string | undefined,
      type: string,
    ) => {
      if (type === '%') return '%';
      const columns = width === '*' ? Number(next()) : Number(width ?? 0);
      const digits = precision === undefined ? null : precision === '*' ? Number(next()) : Number(precision);
      if (!Number.isFinite(columns)) throw new TemplateError('* wants int');
      let value: Value;
      if (name === undefined) value = next();
      else {
        isNamed = true;
        if (!(given instanceof Dict)) throw new TemplateError('format requires a mapping');
        const named = given.get(name);
        value = named === undefined ? notFound(name) : named;
      }
      budget.make(Math.abs(columns) + (digits ?? 0));
      return pad(
        directive(value, type, flags, digits, budget),
        columns,
        flags,
        isNumber(value) && !'srac'.includes(type),
      );
    },
  );
  if (!isNamed && used < args.length && !(given instanceof Dict) && !(used === 0 && isSubscribed(given)))
    throw new TemplateError('not all arguments converted during string formatting');
  return text;
}

/** Python takes it for a mapping, of which a text without directives needs nothing. */
const isSubscribed = (value: Value): boolean =>
  Array.isArray(value) || value instanceof Range || value instanceof Undefined;

const notFound = (name: string): never => {
  throw new TemplateError(`KeyError: '${name}'`);
};

function directive(value: Value, type: string, flags: string, digits: number | null, budget: Budget): string {
  if ('sra'.includes(type)) {
    const text = type === 's' ? str(value, budget) : type === 'r' ? repr(value, budget) : ascii(repr(value, budget));
    return digits === null ? text : [...characters(text)].slice(0, digits).join('');
  }
  if (type === 'c') return oneCharacter(value);
  if (value instanceof Undefined) value.fail();
  if (!isNumber(value)) throw new TemplateError(`%${type} format: a real number is required, not ${typeName(value)}`);
  const sign = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  if ('diu'.includes(type)) return signed(integerText(truncate(value), 10, digits ?? 1), sign);
  if ('xXo'.includes(type)) {
    if (!isInteger(value)) throw new TemplateError(`%${type} format: an integer is required, not float`);
    const prefix = flags.includes('#') ? (type === 'o' ? '0o' : `0${type}`) : '';
    const text = integerText(BigInt(value), type === 'o' ? 8 : 16, digits ?? 1, prefix);
    return signed(type === 'X' ? text.toUpperCase() : text, sign);
  }
  if ('eEfFgG'.includes(type))
    return signed(numberText(Number(numberOf(value)), type, digits, flags.includes('#')), sign);
  throw new TemplateError(`unsupported format character '${type}'`);
}

function oneCharacter(value: Value): string {
  if (typeof value === 'string' && characters(value).length === 1) return value;
  if (!isInteger(value)) throw new TemplateError('%c requires int or char');
  const code = Number(value);
  if (code < 0 || code > 0x10ffff) throw new TemplateError('%c arg not in range(0x110000)');
  return String.fromCodePoint(code);
}

const ascii = (text: string): string =>
  text.replace(/[^\x00-\x7f]/gu, (character) => {
    const code = character.codePointAt(0)!;
    const [prefix, width] = code < 0x100 ? ['\\x', 2] : code < 0x10000 ? ['\\u', 4] : ['\\U', 8];
    return prefix + code.toString(16).padStart(width, '0');
  });

export function truncate(value: number | bigint | boolean | PythonFloat): bigint {
  const number = value instanceof PythonFloat ? value.value : value;
  if (typeof number === 'number' && !Number.isFinite(number))
    throw new TemplateError('cannot convert float infinity or NaN to integer');
  return BigInt(typeof number === 'number' ? Math.trunc(number) : number);
}

function integerText(value: bigint, base: number, digits: number, prefix = ''): string {
  const text = (value < 0n ? -value : value).toString(base).padStart(digits, '0');
  return (value < 0n ? '-' : '') + prefix + text;
}

const signed = (text: string, sign: string): string => (text.startsWith('-') ? text : sign + text);

/** A float in one of the types e, f, g (or E, F, G), without a sign for positive numbers; `g` keeps its zeros if it is `alternate`. */
export function numberText(value: number, type: string, digits: number | null, alternate = false): string {
  const upper = type !== type.toLowerCase();
  const text = Number.isFinite(value)
    ? finiteText(value, type.toLowerCase(), digits ?? 6, alternate)
    : floatText(value);
  return upper ? text.toUpperCase() : text;
}

function finiteText(value: number, type: string, digits: number, alternate: boolean): string {
  // With '#', a point stands even where no digits follow it.
  const pointed = (text: string) => (alternate && !text.includes('.') ? text.replace(/(?=e|$)/, '.') : text);
  if (type === 'f') return withSign(value, pointed(fixed(value, digits)));
  if (type === 'e') return withSign(value, pointed(exponential(Math.abs(value), digits)));
  const precision = Math.max(1, digits);
  const exponent =
    value === 0
      ? 0
      : Number(
          Math.abs(value)
            .toExponential(precision - 1)
            .split('e')[1],
        );
  const text =
    exponent < -4 || exponent >= precision
      ? exponential(Math.abs(value), precision - 1)
      : fixed(value, precision - 1 - exponent);
  return withSign(value, alternate ? pointed(text) : text.replace(/(\.\d*?)0+(?=e|$)/, '$1').replace(/\.(?=e|$)/, ''));
}

const withSign = (value: number, text: string): string => (value < 0 || Object.is(value, -0) ? '-' : '') + text;

/** Without a sign. toFixed is exact up to 100 digits, below 1e21. */
function fixed(value: number, digits: number): string {
  const size = Math.abs(value);
  if (size < 1e21) return roundedHalfEven(size, Math.min(digits, 100));
  return BigInt(size).toString() + (digits > 0 ? `.${'0'.repeat(digits)}` : '');
}

/** toFixed rounds halves up, Python to even; halves are exact in binary only for few digits. */
function roundedHalfEven(size: number, digits: number): string {
  const text = size.toFixed(digits);
  if (digits > 20) return text;
  const exact = size.toFixed(Math.min(100, digits + 30));
  const tail = exact.slice(exact.length - (Math.min(100, digits + 30) - digits));
  if (!/^50*$/.test(tail) || Number(exact) !== size) return text;
  const down = exact.slice(0, exact.length - tail.length).replace(/\.$/, '');
  return Number(down.at(-1)) % 2 === 0 ? down : text;
}

function exponential(size: number, digits: number): string {
  const [mantissa, exponent] = size.toExponential(Math.min(100, digits)).split('e') as [string, string];
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
}

function pad(text: string, columns: number, flags: string, isNumeric: boolean): string {
  const missing = Math.abs(columns) - characters(text).length;
  if (missing <= 0) return text;
  if (flags.includes('-') || columns < 0) return text + ' '.repeat(missing);
  if (!flags.includes('0') || !isNumeric) return ' '.repeat(missing) + text;
  const [, head, rest] = /^([-+ ]?(?:0[xXo])?)([^]*)$/.exec(text)!;
  return head + '0'.repeat(missing) + rest;
}
