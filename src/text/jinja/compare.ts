// `==`, `<` and `in` as Python has them.
import { PythonFloat } from '../python-json.ts';
import type { Budget } from './budget.ts';
import { TemplateError } from './errors.ts';
import { Dict, isNumber, itemsOf, Namespace, Range, Tuple, typeName, Undefined, View, type Value } from './values.ts';

export const numberOf = (value: number | bigint | boolean | PythonFloat): number | bigint =>
  value instanceof PythonFloat ? value.value : typeof value === 'boolean' ? Number(value) : value;

export function isEqual(a: Value, b: Value, budget: Budget): boolean {
  budget.step();
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return numberOf(a) == numberOf(b); // an int beyond 2^53 and a float
  if (Array.isArray(a) && Array.isArray(b)) return areEqual(a, b, budget);
  if (a instanceof Tuple && b instanceof Tuple) return areEqual(a.items, b.items, budget);
  if (a instanceof Range && b instanceof Range) return areEqual(a.items, b.items, budget);
  if (a instanceof Dict && b instanceof Dict) {
    if (a.size !== b.size) return false;
    return a.entries().every(([key, value]) => {
      const other = b.get(key);
      return other !== undefined && isEqual(value, other, budget);
    });
  }
  if (a instanceof View && b instanceof View && a.kind === b.kind && a.kind !== 'dict_values')
    return a.dict.size === b.dict.size && a.items().every((item) => contains(b, item, budget));
  return a instanceof Undefined && b instanceof Undefined;
}

const areEqual = (a: readonly Value[], b: readonly Value[], budget: Budget): boolean =>
  a.length === b.length && a.every((item, i) => isEqual(item, b[i]!, budget));

/** Negative, zero or positive; throws for values that have no order. NaN: they are numbers without an order. */
export function compare(a: Value, b: Value, budget: Budget, operator = '<'): number {
  budget.step();
  if (isNumber(a) && isNumber(b)) {
    const [x, y] = [numberOf(a), numberOf(b)];
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : NaN; // see isEqual
  }
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b, budget, operator);
  if (a instanceof Tuple && b instanceof Tuple) return compareLists(a.items, b.items, budget, operator);
  for (const value of [a, b]) if (value instanceof Undefined) value.fail();
  throw new TemplateError(`'${operator}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`);
}

function compareLists(a: readonly Value[], b: readonly Value[], budget: Budget, operator: string): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (!isEqual(a[i]!, b[i]!, budget)) return compare(a[i]!, b[i]!, budget, operator);
  }
  return a.length - b.length;
}

/** By code points, where JavaScript compares UTF-16 units. */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x === y) continue;
    const [isHighX, isHighY] = [isSurrogate(x), isSurrogate(y)];
    return isHighX === isHighY ? x - y : isHighX ? 1 : -1;
  }
  return a.length - b.length;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;

export function contains(container: Value, item: Value, budget: Budget): boolean {
  if (typeof container === 'string') {
    budget.make(container.length);
    if (typeof item === 'string') return container.includes(item);
    throw new TemplateError(`'in <string>' requires string as left operand, not ${typeName(item)}`);
  }
  if (container instanceof Dict) return container.has(item);
  if (container instanceof View && container.kind === 'dict_keys') return container.dict.has(item);
  if (container === null || isNumber(container) || container instanceof Namespace)
    throw new TemplateError(`argument of type '${typeName(container)}' is not iterable`);
  return itemsOf(container).some((each) => isEqual(each, item, budget));
}
