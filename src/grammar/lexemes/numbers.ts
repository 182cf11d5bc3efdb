// Converts JSON numbers with bounds and steps into terms. Parsers that read doubles must agree, so numbers with bounds have no
// exponent and up to 15 significant digits, or 20 if a bound needs them; integers beyond 2^53 stay exact.
import { readGbnf } from '../gbnf-reader.ts';
import { digitsBetween } from '../gbnf.ts';
import { byLength, decimalsBetween, type Bound } from './decimals.ts';
import { expressionTerm } from './expression-term.ts';
import type { Term, Terms } from './terms.ts';

export type JsonNumber = number | bigint;

export interface Limit {
  readonly value: JsonNumber;
  readonly inclusive: boolean;
}

/** Conditions on a number; all must hold. */
export interface NumberSpec {
  /** Null: either. */
  readonly integer: boolean | null;
  readonly low: Limit | null;
  readonly high: Limit | null;
  readonly multiples: readonly JsonNumber[];
  readonly notMultiples: readonly JsonNumber[];
  readonly not: readonly JsonNumber[];
}

export const ANY_NUMBER: NumberSpec = {
  integer: null,
  low: null,
  high: null,
  multiples: [],
  notMultiples: [],
  not: [],
};

const DIGITS_USUAL = 15;
/** int64 and uint64 have at most this many digits. */
const DIGITS_MAX = 20;
const STEP_MAX = 10_000; // each remainder is a state
const WRITTEN_OUT_MAX = 4_096;

export const tighterLow = (a: Limit | null, b: Limit | null): Limit | null => tighter(a, b, 1);
export const tighterHigh = (a: Limit | null, b: Limit | null): Limit | null => tighter(a, b, -1);

function tighter(a: Limit | null, b: Limit | null, sign: 1 | -1): Limit | null {
  if (a === null || b === null) return a ?? b;
  if (a.value == b.value) return a.inclusive ? b : a; // `==`, because a bigint may equal a number
  return a.value > b.value === sign > 0 ? a : b;
}

/** Whether a listed value satisfies the conditions when it is read as a double. */
export function conforms({ integer, low, high, multiples, notMultiples, not }: NumberSpec, value: JsonNumber): boolean {
  const isInteger = typeof value === 'bigint' || Number.isInteger(value);
  if (integer !== null && integer !== isInteger) return false;
  if (low && !(value > low.value || (low.inclusive && value == low.value))) return false;
  if (high && !(value < high.value || (high.inclusive && value == high.value))) return false;
  if (not.some((other) => other == value)) return false;
  return multiples.every((step) => isMultiple(value, step)) && !notMultiples.some((step) => isMultiple(value, step));
}

const isMultiple = (value: JsonNumber, step: JsonNumber): boolean =>
  typeof value === 'bigint' && typeof step === 'bigint'
    ? value % step === 0n
    : typeof value === 'bigint' && Number.isInteger(step)
      ? value % BigInt(step) === 0n
      : Number.isInteger(Number(value) / Number(step));

/** Throws Error with the reason if the conditions cannot be expressed. */
export function numberTerm(terms: Terms, spec: NumberSpec): Term {
  const { integer, low, high, multiples, notMultiples, not } = spec;
  if (spec.low === null && high === null && multiples.length + notMultiples.length + not.length === 0) {
    if (integer === null) return read(terms, NUMBER);
    return read(terms, integer ? INTEGER : FRACTION);
  }
  terms.spend(40);
  const steps = joined(multiples).filter((step) => !(integer === true && step == 1));
  const onlyIntegers = integer === true || multiples.some((step) => Number.isInteger(Number(step)));
  const parts = [between(terms, low, high, onlyIntegers)];
  if (integer === false) parts.push(read(terms, FRACTION));
  for (const step of steps) parts.push(multipleTerm(terms, step, low, high));
  for (const step of notMultiples) parts.push(terms.not(multipleTerm(terms, step, low, high, true)));
  if (not.length > 0) parts.push(terms.not(terms.or(not.map((value) => spellings(terms, value)))));
  if (onlyIntegers && multiples.length > 0) parts.push(read(terms, SAFE_INTEGER));
  return terms.and(parts);
}

const INTEGER = '"-"? ("0" | [1-9] [0-9]{0,19})';
const NUMBER = '"-"? ("0" | [1-9] [0-9]{0,19}) ("." [0-9]{1,15})? ([eE] [+-]? [0-9]{1,2})?';
/** Few enough digits that a double represents the fraction. */
const FRACTION = '"-"? ("0" | [1-9] [0-9]{0,8}) "." "0"{0,5} [1-9] [0-9]{0,5}';
const SAFE_INTEGER = '"-"? ("0" | [1-9] [0-9]{0,14})';

/** Cached, because a thousand bounds share most of their runs of digits. */
const readings = new WeakMap<Terms, Map<string, Term>>();

function read(terms: Terms, expression: string): Term {
  const known = readings.get(terms) ?? new Map<string, Term>();
  readings.set(terms, known);
  const found = known.get(expression);
  if (found) return found;
  terms.spend(expression.length / 4);
  const made = expressionTerm(terms, readGbnf(`root ::= ${expression}`)[0]!.body);
  known.set(expression, made);
  return made;
}

interface SignedBound extends Bound {
  readonly negative: boolean;
}
const ZERO: SignedBound = { negative: false, whole: 0n, fraction: '', inclusive: true };

function between(terms: Terms, low: Limit | null, high: Limit | null, integers: boolean): Term {
  const [lower, upper] = [low && boundOf(low), high && boundOf(high)];
  const [from, until] = [lower ?? opposite(upper ?? ZERO, true), upper ?? opposite(lower ?? ZERO, false)];
  const parts = integers ? integersBetween(integerFrom(from), integerTo(until)) : bothSigns(from, until);
  return terms.or(parts.map((part) => read(terms, part)));
}

/** The default for a missing bound: the usual number of digits, or one more than the other bound has. */
function opposite({ whole }: Bound, negative: boolean): SignedBound {
  const digits = Math.min(Math.max(DIGITS_USUAL, whole.toString().length + 1), DIGITS_MAX);
  return { negative, whole: 10n ** BigInt(digits) - 1n, fraction: '', inclusive: true };
}

function boundOf({ value, inclusive }: Limit): SignedBound {
  const { negative, whole, fraction } = decimalOf(value);
  const most = 10n ** BigInt(DIGITS_MAX); // bounds beyond all numbers written here are lowered to it
  if (whole > most) return { negative, whole: most, fraction: '', inclusive: false };
  return { negative, whole, fraction, inclusive };
}

interface Decimal {
  readonly negative: boolean;
  readonly whole: bigint;
  readonly fraction: string;
}

function decimalOf(value: JsonNumber): Decimal {
  if (typeof value === 'bigint') return { negative: value < 0n, whole: value < 0n ? -value : value, fraction: '' };
  const [, digits, behind, exponent] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value))!;
  const shift = Number(exponent ?? 0);
  const all = `${'0'.repeat(Math.max(0, -shift))}${digits}${behind ?? ''}${'0'.repeat(Math.max(0, shift))}`;
  const point = digits!.length + Math.max(0, -shift) + shift;
  return {
    negative: value < 0,
    whole: BigInt(all.slice(0, point) || '0'),
    fraction: all.slice(point).replace(/0+$/, ''),
  };
}

/** The first integer within the bound. */
function integerFrom({ negative, whole, fraction, inclusive }: SignedBound): bigint {
  if (fraction !== '') return negative ? -whole : whole + 1n;
  return (negative ? -whole : whole) + (inclusive ? 0n : 1n);
}

const integerTo = (bound: SignedBound): bigint => -integerFrom({ ...bound, negative: !bound.negative });

const runs = (low: bigint, high: bigint): string[] =>
  byLength(low, high).map(({ first, last }) => digitsBetween(first, last));

function integersBetween(low: bigint, high: bigint): string[] {
  const negative = low < 0n ? runs(high < 0n ? -high : 1n, -low).map((run) => `"-" ${run}`) : [];
  return high < low ? [] : [...negative, ...(high < 0n ? [] : runs(low > 0n ? low : 0n, high))];
}

function bothSigns(low: SignedBound, high: SignedBound): string[] {
  const zero = { whole: 0n, fraction: '' };
  const negative = low.negative
    ? decimalsBetween(high.negative ? high : { ...zero, inclusive: false }, low).map((part) => `"-" ${part}`)
    : [];
  if (high.negative) return negative;
  return [...negative, ...decimalsBetween(low.negative ? { ...zero, inclusive: true } : low, high)];
}

/** A number in every spelling without an exponent. */
function spellings(terms: Terms, value: JsonNumber): Term {
  const { negative, whole, fraction } = decimalOf(value);
  const zeros = terms.repeat(terms.bytes(0x30, 0x30), 0, Infinity);
  const end =
    fraction === ''
      ? terms.optional(terms.concat([terms.word('.'), zeros]))
      : terms.concat([terms.word(`.${fraction}`), zeros]);
  const sign =
    whole === 0n && fraction === '' ? terms.optional(terms.word('-')) : negative ? terms.word('-') : terms.empty;
  return terms.concat([sign, terms.word(whole.toString()), end]);
}

/**
 * The multiples of `step` according to a parser that divides doubles. If `step` is an integer: exactly its multiples, as a state
 * machine over remainders. If it is a fraction: integers, and those of the first multiples whose quotient is an integer in doubles
 * (0.07 / 0.01 is not). `all`: the result must contain every multiple that is written without an exponent.
 */
function multipleTerm(terms: Terms, step: JsonNumber, low: Limit | null, high: Limit | null, all = false): Term {
  const sign = terms.optional(terms.word('-'));
  const point = terms.optional(terms.concat([terms.word('.'), terms.repeat(terms.bytes(0x30, 0x30), 1, Infinity)]));
  if (Number.isInteger(Number(step))) {
    if (step > STEP_MAX) {
      const listed = all ? null : listedMultiples(BigInt(step), low, high);
      if (listed === null) throw new Error(`\`multipleOf\` ${step} is too large here`);
      return terms.words(listed);
    }
    return terms.concat([sign, terms.multiple(Number(step)), point]);
  }
  if (all) throw new Error(`excluding multiples of ${step} is not supported`);
  const { fraction, whole } = decimalOf(step);
  const scale = 10n ** BigInt(fraction.length);
  const over = whole * scale + BigInt(fraction);
  const integers = Number(over / gcd(over, scale));
  const parts: Term[] = [];
  const isExact = (value: number) => Number.isInteger(value / Number(step));
  if (
    integers <= STEP_MAX &&
    [1, 3, 7, 19, 99, 1001, 77777, 123457].every((i) => isExact(i * integers)) &&
    isSafe(Number(step), over, scale)
  )
    parts.push(terms.concat([sign, terms.multiple(integers)]));
  const words: string[] = [];
  terms.spend(WRITTEN_OUT_MAX);
  for (let i = 0n; i < WRITTEN_OUT_MAX; i++) {
    const text = decimalText(i * over, fraction.length);
    if (text.length <= DIGITS_USUAL && isExact(Number(text))) words.push(text, `-${text}`);
  }
  return terms.or([...parts, terms.words(words)]);
}

/** Whether integers divided by the double give an integer whenever they should: its relative error is less than 2^-54. */
function isSafe(step: number, over: bigint, scale: bigint): boolean {
  let exponent = 0;
  let mantissa = step;
  for (; !Number.isInteger(mantissa) && exponent < 1_100; exponent++) mantissa *= 2;
  const off = BigInt(mantissa) * scale - over * (1n << BigInt(exponent));
  return (off < 0n ? -off : off) * (1n << 54n) < over * (1n << BigInt(exponent));
}

/** Combines the integer steps into one. */
function joined(steps: readonly JsonNumber[]): JsonNumber[] {
  const isWhole = (step: JsonNumber) => typeof step === 'bigint' || Number.isSafeInteger(step);
  const whole = steps.filter(isWhole).map(BigInt);
  const others = steps.filter((step) => !isWhole(step));
  if (whole.length < 2) return [...steps];
  const least = whole.reduce((a, b) => (a / gcd(a, b)) * b);
  return [...others, least <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(least) : least];
}

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b));

function decimalText(scaled: bigint, digits: number): string {
  const text = scaled.toString().padStart(digits + 1, '0');
  const fraction = text.slice(text.length - digits).replace(/0+$/, '');
  return `${text.slice(0, text.length - digits)}${fraction === '' ? '' : `.${fraction}`}`;
}

function listedMultiples(step: bigint, low: Limit | null, high: Limit | null): string[] | null {
  const most = 10n ** BigInt(DIGITS_USUAL);
  const from = low ? integerFrom(boundOf(low)) : -most;
  const to = high ? integerTo(boundOf(high)) : most;
  const [first, last] = [ceilDivide(from > -most ? from : -most, step), -ceilDivide(-(to < most ? to : most), step)];
  const words: string[] = [];
  if (last - first <= BigInt(WRITTEN_OUT_MAX)) for (let i = first; i <= last; i++) words.push((i * step).toString());
  else
    for (let i = 0n; i < BigInt(WRITTEN_OUT_MAX) && i * step < most; i++)
      words.push((i * step).toString(), (-i * step).toString());
  return words;
}

const ceilDivide = (a: bigint, b: bigint): bigint => (a >= 0n ? (a + b - 1n) / b : -(-a / b));
