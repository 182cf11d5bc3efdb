// The tests that templates may use: `x is defined`, `select('divisibleby', 3)`.
import { PythonFloat } from '../python-json.ts';
import type { Budget } from './budget.ts';
import { compare, contains, isEqual, numberOf } from './compare.ts';
import { TemplateError } from './errors.ts';
import { FILTERS, UNSUPPORTED } from './filters.ts';
import { bind, type Given } from './parameters.ts';
import { STRING_METHODS } from './string-methods.ts';
import { str } from './texts.ts';
import {
  Callable,
  Dict,
  isInteger,
  isIterable,
  isNumber,
  Range,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from './values.ts';

export type Test = (value: Value, given: Given, budget: Budget) => boolean;

const alone =
  (name: string, test: (value: Value, budget: Budget) => boolean): Test =>
  (value, given, budget) => {
    bind(name, [], given);
    return test(value, budget);
  };

const with_ =
  (name: string, test: (value: Value, other: Value, budget: Budget) => boolean): Test =>
  (value, given, budget) => {
    const [other] = bind(name, ['other'], given, 1);
    return test(value, other!, budget);
  };

/** Whether the value is a key of a table. */
const named = (name: string, isKnown: (key: string) => boolean): Test =>
  alone(name, (value) => (typeof value === 'string' ? isKnown(value) : new Dict().has(value)));

/** The remainder in Python's sense. */
function modulo(value: Value, by: Value): number | bigint {
  if (value instanceof Undefined) value.fail();
  if (!isNumber(value) || !isNumber(by))
    throw new TemplateError(`unsupported operand type(s) for %: '${typeName(value)}' and '${typeName(by)}'`);
  const [a, b] = [numberOf(value), numberOf(by)];
  if (Number(b) === 0) throw new TemplateError('integer modulo by zero');
  const isFloat = value instanceof PythonFloat || by instanceof PythonFloat;
  if (!isFloat && (typeof a === 'bigint' || typeof b === 'bigint'))
    return ((BigInt(a) % BigInt(b)) + BigInt(b)) % BigInt(b);
  return ((Number(a) % Number(b)) + Number(b)) % Number(b);
}

const isSame = (a: Value, b: Value): boolean =>
  a === b || (a instanceof PythonFloat && b instanceof PythonFloat && a === b);

const cased = (method: 'islower' | 'isupper') =>
  alone(
    method,
    (value, budget) =>
      STRING_METHODS[method]!(str(value, budget), { positional: [], named: new Map() }, budget) as boolean,
  );

const eq = with_('eq', isEqual);
const ne = with_('ne', (a, b, budget) => !isEqual(a, b, budget));
const lt = with_('lt', (a, b, budget) => compare(a, b, budget, '<') < 0);
const le = with_('le', (a, b, budget) => compare(a, b, budget, '<=') <= 0);
const gt = with_('gt', (a, b, budget) => compare(a, b, budget, '>') > 0);
const ge = with_('ge', (a, b, budget) => compare(a, b, budget, '>=') >= 0);

export const TESTS: Readonly<Record<string, Test>> = {
  '!=': ne,
  '<': lt,
  '<=': le,
  '==': eq,
  '>': gt,
  '>=': ge,
  boolean: alone('boolean', (value) => typeof value === 'boolean'),
  callable: alone('callable', (value) => value instanceof Callable || value instanceof Undefined),
  defined: alone('defined', (value) => !(value instanceof Undefined)),
  divisibleby: with_('divisibleby', (value, by) => Number(modulo(value, by)) === 0),
  eq,
  equalto: eq,
  escaped: alone('escaped', () => false),
  even: alone('even', (value) => Number(modulo(value, 2)) === 0),
  false: alone('false', (value) => value === false),
  filter: named('filter', (name) => Object.hasOwn(FILTERS, name) || UNSUPPORTED.has(name)),
  float: alone('float', (value) => value instanceof PythonFloat),
  ge,
  greaterthan: gt,
  gt,
  in: with_('in', (value, container, budget) => contains(container, value, budget)),
  integer: alone('integer', (value) => isInteger(value) && typeof value !== 'boolean'),
  iterable: alone('iterable', isIterable),
  le,
  lessthan: lt,
  lower: cased('islower'),
  lt,
  mapping: alone('mapping', (value) => value instanceof Dict),
  ne,
  none: alone('none', (value) => value === null),
  number: alone('number', isNumber),
  odd: alone('odd', (value) => Number(modulo(value, 2)) === 1),
  sameas: with_('sameas', isSame),
  sequence: alone(
    'sequence',
    (value) =>
      typeof value === 'string' ||
      Array.isArray(value) ||
      value instanceof Tuple ||
      value instanceof Dict ||
      value instanceof Range ||
      value instanceof Undefined,
  ),
  string: alone('string', (value) => typeof value === 'string'),
  test: named('test', (name) => Object.hasOwn(TESTS, name)),
  true: alone('true', (value) => value === true),
  undefined: alone('undefined', (value) => value instanceof Undefined),
  upper: cased('isupper'),
};
