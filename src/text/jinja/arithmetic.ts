// Operators on numbers, strings and lists as Python has them.
import { PythonFloat } from '../python-json.ts';
import type { Budget } from './budget.ts';
import { numberOf } from './compare.ts';
import { TemplateError } from './errors.ts';
import { formatPercent } from './percent-format.ts';
import type { BinaryOperator } from './syntax.ts';
import { isInteger, isNumber, isSequence, toInteger, Tuple, typeName, Undefined, type Value } from './values.ts';

/** Bits of a power: larger ones take long. */
const POWER_BITS_MAX = 20_000;

export function binary(operator: BinaryOperator, a: Value, b: Value, budget: Budget): Value {
  if (isInteger(a) && isInteger(b)) return integers(operator, numberOf(a), numberOf(b));
  if (isNumber(a) && isNumber(b)) return new PythonFloat(floats(operator, Number(numberOf(a)), Number(numberOf(b))));
  if (operator === '%' && typeof a === 'string') return budget.made(formatPercent(a, b, budget));
  if (operator === '+') {
    if (typeof a === 'string' && typeof b === 'string') return budget.made(a + b);
    if (Array.isArray(a) && Array.isArray(b)) {
      budget.make(a.length + b.length);
      return [...a, ...b];
    }
    if (a instanceof Tuple && b instanceof Tuple) return new Tuple([...a.items, ...b.items]);
  }
  if (operator === '*') {
    if (isSequence(a) && isInteger(b)) return repeat(a, Number(b), budget);
    if (isSequence(b) && isInteger(a)) return repeat(b, Number(a), budget);
  }
  for (const value of [a, b]) if (value instanceof Undefined) value.fail();
  if (operator === '+' && typeof a === 'string')
    throw new TemplateError(`can only concatenate str (not "${typeName(b)}") to str`);
  throw new TemplateError(`unsupported operand type(s) for ${operator}: '${typeName(a)}' and '${typeName(b)}'`);
}

export function negative(value: Value): Value {
  if (isInteger(value)) return integers('-', 0, numberOf(value));
  if (value instanceof PythonFloat) return new PythonFloat(-value.value);
  if (value instanceof Undefined) value.fail();
  throw new TemplateError(`bad operand type for unary -: '${typeName(value)}'`);
}

export function positive(value: Value): Value {
  if (isInteger(value)) return numberOf(value);
  if (value instanceof PythonFloat) return value;
  if (value instanceof Undefined) value.fail();
  throw new TemplateError(`bad operand type for unary +: '${typeName(value)}'`);
}

function repeat(sequence: Value[] | Tuple | string, times: number, budget: Budget): Value {
  const count = Math.max(0, times);
  budget.make((sequence instanceof Tuple ? sequence.items.length : sequence.length) * count);
  if (typeof sequence === 'string') return sequence.repeat(count);
  const items = sequence instanceof Tuple ? sequence.items : sequence;
  const all = Array.from({ length: items.length * count }, (_, i) => items[i % items.length]!);
  return sequence instanceof Tuple ? new Tuple(all) : all;
}

function integers(operator: BinaryOperator, a: number | bigint, b: number | bigint): Value {
  if (operator === '/') {
    if (Number(b) === 0) throw new TemplateError('division by zero');
    return new PythonFloat(typeof a === 'number' && typeof b === 'number' ? a / b : quotient(BigInt(a), BigInt(b)));
  }
  if (typeof a === 'number' && typeof b === 'number') {
    const quick = smallIntegers(operator, a, b);
    if (quick !== null && Number.isSafeInteger(quick)) return quick + 0;
  }
  return largeIntegers(operator, BigInt(a), BigInt(b));
}

/** The nearest float, rounded once: 66 bits of the quotient, and one that says whether there are more. */
function quotient(a: bigint, b: bigint): number {
  const [above, below] = [a < 0n ? -a : a, b < 0n ? -b : b];
  const shift = Math.max(0, 66 - above.toString(2).length + below.toString(2).length);
  const scaled = above << BigInt(shift);
  const bits = ((scaled / below) << 1n) | (scaled % below === 0n ? 0n : 1n);
  const size = Number(bits) / 2 ** (shift + 1);
  if (!Number.isFinite(size)) throw new TemplateError('integer division result too large for a float');
  return a < 0n === b < 0n ? size : -size;
}

/** Null: not computed here. */
function smallIntegers(operator: BinaryOperator, a: number, b: number): number | null {
  if (operator === '+') return a + b;
  if (operator === '-') return a - b;
  if (operator === '*') return a * b;
  if (operator === '**') return null;
  if (b === 0) throw new TemplateError('integer division or modulo by zero');
  const quotient = Math.floor(a / b);
  return Number.isSafeInteger(a) && Math.abs(a) < 2 ** 50 ? (operator === '//' ? quotient : a - quotient * b) : null;
}

function largeIntegers(operator: BinaryOperator, a: bigint, b: bigint): Value {
  if (operator === '+') return toInteger(a + b);
  if (operator === '-') return toInteger(a - b);
  if (operator === '*') return toInteger(a * b);
  if (operator === '**') return power(a, b);
  if (b === 0n) throw new TemplateError('integer division or modulo by zero');
  const remainder = ((a % b) + b) % b;
  return toInteger(operator === '%' ? remainder : (a - remainder) / b);
}

function power(base: bigint, exponent: bigint): Value {
  if (exponent < 0n) {
    if (base === 0n) throw new TemplateError('0.0 cannot be raised to a negative power');
    return new PythonFloat(Number(base) ** Number(exponent));
  }
  const bits = base.toString(2).length * Number(exponent);
  if (bits > POWER_BITS_MAX && base !== 0n && base !== 1n && base !== -1n)
    throw new TemplateError('the power is too large');
  return toInteger(base ** exponent);
}

function floats(operator: BinaryOperator, a: number, b: number): number {
  if (operator === '+') return a + b;
  if (operator === '-') return a - b;
  if (operator === '*') return a * b;
  if (operator === '**') return floatPower(a, b);
  if (b === 0)
    throw new TemplateError(operator === '/' ? 'float division by zero' : 'float floor division or modulo by zero');
  if (operator === '/') return a / b;
  let remainder = a % b;
  if (remainder !== 0 && remainder < 0 !== b < 0) remainder += b;
  else if (remainder === 0) remainder = b < 0 ? -0 : 0;
  if (operator === '%') return remainder;
  const quotient = (a - remainder) / b;
  if (quotient === 0) return a / b < 0 || Object.is(a / b, -0) ? -0 : 0;
  return quotient - Math.floor(quotient) > 0.5 ? Math.floor(quotient) + 1 : Math.floor(quotient);
}

function floatPower(base: number, exponent: number): number {
  if (base === 0 && exponent < 0) throw new TemplateError('0.0 cannot be raised to a negative power');
  if (base < 0 && !Number.isInteger(exponent)) throw new TemplateError('the power is a complex number');
  const result = base ** exponent;
  if (!Number.isFinite(result) && Number.isFinite(base) && Number.isFinite(exponent))
    throw new TemplateError('the power is too large');
  return result;
}
