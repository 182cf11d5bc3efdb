// Methods of dicts, lists, tuples and numbers. Those that change an object are refused, as in Jinja's immutable sandbox.
import { PythonFloat } from '../python-json.ts';
import type { Budget } from './budget.ts';
import { isEqual, numberOf } from './compare.ts';
import { TemplateError } from './errors.ts';
import { bind, type Given } from './parameters.ts';
import { STRING_METHODS } from './string-methods.ts';
import { Callable, Dict, isInteger, isNumber, Range, Tuple, Undefined, View, type Value } from './values.ts';

const CHANGING_LISTS = ['append', 'clear', 'extend', 'insert', 'pop', 'remove', 'reverse', 'sort'];
const CHANGING_DICTS = ['clear', 'pop', 'popitem', 'setdefault', 'update'];

/** Undefined: the object has no such attribute. */
export function methodOf(object: Value, name: string, budget: Budget): Value | undefined {
  if (name.startsWith('__')) return refused(object, name);
  if (typeof object === 'string') {
    const method = Object.hasOwn(STRING_METHODS, name) ? STRING_METHODS[name]! : undefined;
    return method && bound(name, (given) => method(object, given, budget));
  }
  if (object instanceof Dict) {
    if (CHANGING_DICTS.includes(name)) return refused(object, name);
    return dictMethod(object, name);
  }
  if (Array.isArray(object)) {
    if (CHANGING_LISTS.includes(name)) return refused(object, name);
    if (name === 'copy') return bound(name, () => [...object]);
    return listMethod(object, name, budget);
  }
  if (object instanceof Tuple) return listMethod(object.items, name, budget);
  if (object instanceof Range) {
    if (name === 'start' || name === 'step') return object[name];
    return name === 'stop' ? object.stop : listMethod(object.items, name, budget);
  }
  return isNumber(object) ? numberMethod(object, name) : undefined;
}

function numberMethod(object: number | bigint | boolean | PythonFloat, name: string): Value | undefined {
  if (name === 'real') return typeof object === 'boolean' ? Number(object) : object;
  if (name === 'imag') return isInteger(object) ? 0 : new PythonFloat(0);
  if (name === 'conjugate') return bound(name, () => (typeof object === 'boolean' ? Number(object) : object));
  if (!isInteger(object)) {
    return name === 'is_integer' ? bound(name, () => Number.isInteger(Number(numberOf(object)))) : undefined;
  }
  if (name === 'numerator') return typeof object === 'boolean' ? Number(object) : object;
  if (name === 'denominator') return 1;
  const bits = () => (Number(object) === 0 ? '' : BigInt(object).toString(2).replace('-', ''));
  if (name === 'bit_length') return bound(name, () => bits().length);
  if (name === 'bit_count') return bound(name, () => bits().replaceAll('0', '').length);
  return undefined;
}

export function bound(name: string, call: (given: Given) => Value): Callable {
  return new Callable(name, (positional, named) => call({ positional, named }));
}

/** It writes nothing and cannot be called. */
const refused = (object: Value, name: string): Undefined =>
  new Undefined(
    `access to attribute '${name}' of '${Array.isArray(object) ? 'list' : object instanceof Dict ? 'dict' : 'object'}' object is unsafe.`,
  );

function dictMethod(dict: Dict, name: string): Value | undefined {
  switch (name) {
    case 'items':
      return bound(name, (given) => (bind(name, [], given), new View('dict_items', dict)));
    case 'keys':
      return bound(name, (given) => (bind(name, [], given), new View('dict_keys', dict)));
    case 'values':
      return bound(name, (given) => (bind(name, [], given), new View('dict_values', dict)));
    case 'get':
      return bound(name, (given) => {
        const [key, otherwise = null] = bind(name, ['key', 'default'], given, 1);
        const value = dict.get(key!);
        return value === undefined ? otherwise : value;
      });
    case 'copy':
      return bound(name, () => dict.entries().reduce((copy, [key, value]) => copy.set(key, value), new Dict()));
    default:
      return undefined;
  }
}

function listMethod(items: readonly Value[], name: string, budget: Budget): Value | undefined {
  if (name === 'count')
    return bound(name, (given) => {
      const [value] = bind(name, ['value'], given, 1);
      return items.filter((item) => isEqual(item, value!, budget)).length;
    });
  if (name === 'index')
    return bound(name, (given) => {
      const [value, start = 0, stop = items.length] = bind(name, ['value', 'start', 'stop'], given, 1);
      const at = items.findIndex((item, i) => i >= Number(start) && i < Number(stop) && isEqual(item, value!, budget));
      if (at < 0) throw new TemplateError('the value is not in the list');
      return at;
    });
  return undefined;
}
