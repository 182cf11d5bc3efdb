// Python's values as the interpreter holds them: str is a string, int a number or (beyond 2^53) a bigint, float a PythonFloat, None null, list an
// array. The other types are classes here. Knows how values become true or false, are counted and iterated; arithmetic, texts and
// methods are elsewhere.
import { isObject } from '#base/is-object';
import { PythonFloat, pythonEntries, pythonItems } from '../python-json.ts';
import { TemplateError } from './errors.ts';

export type Value =
  | null
  | string
  | number
  | bigint
  | boolean
  | PythonFloat
  | Value[]
  | Tuple
  | Dict
  | View
  | Range
  | Generated
  | Namespace
  | Callable
  | Undefined;

/** Jinja's default: writes nothing, has no items, and raises where anything else is asked of it. */
export class Undefined {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
  fail(): never {
    throw new TemplateError(this.message);
  }
}

export class Tuple {
  readonly items: readonly Value[];
  constructor(items: readonly Value[]) {
    this.items = items;
  }
}

/** What `groupby` gives: `group.grouper` and `group.list`, which is also a pair. */
export class Group extends Tuple {
  readonly grouper: Value;
  readonly list: Value[];
  constructor(grouper: Value, list: Value[]) {
    super([grouper, list]);
    this.grouper = grouper;
    this.list = list;
  }
}

/** Equal keys are one: 1, 1.0 and True. Items keep the order in which their keys came. */
export class Dict {
  readonly #items = new Map<unknown, [Value, Value]>();

  get size(): number {
    return this.#items.size;
  }
  get(key: Value): Value | undefined {
    return this.#items.get(hashOf(key))?.[1];
  }
  has(key: Value): boolean {
    return this.#items.has(hashOf(key));
  }
  set(key: Value, value: Value): this {
    const hash = hashOf(key);
    const known = this.#items.get(hash);
    if (known) known[1] = value;
    else this.#items.set(hash, [key, value]);
    return this;
  }
  keys(): Value[] {
    return [...this.#items.values()].map(([key]) => key);
  }
  values(): Value[] {
    return [...this.#items.values()].map(([, value]) => value);
  }
  entries(): (readonly [Value, Value])[] {
    return [...this.#items.values()];
  }
}

/** What `dict.items()`, `.keys()` and `.values()` return. */
export class View {
  readonly kind: 'dict_items' | 'dict_keys' | 'dict_values';
  readonly dict: Dict;
  constructor(kind: View['kind'], dict: Dict) {
    this.kind = kind;
    this.dict = dict;
  }
  items(): Value[] {
    if (this.kind === 'dict_keys') return this.dict.keys();
    if (this.kind === 'dict_values') return this.dict.values();
    return this.dict.entries().map((entry) => new Tuple(entry));
  }
}

export class Range {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
  readonly items: number[];
  constructor(start: number, stop: number, step: number) {
    this.start = start;
    this.stop = stop;
    this.step = step;
    const length = Math.max(0, Math.ceil((stop - start) / step));
    this.items = Array.from({ length }, (_, i) => start + i * step);
  }
}

/** A generator of Python, whose items can be read once. They are computed when the first is read, so errors come then. */
export class Generated {
  readonly #compute: () => readonly Value[];
  #items: readonly Value[] | null = null;
  #at = 0;
  constructor(compute: () => readonly Value[]) {
    this.#compute = compute;
  }
  take(): readonly Value[] {
    const items = (this.#items ??= this.#compute()).slice(this.#at);
    this.#at = this.#items.length;
    return items;
  }
  takeOne(): Value | undefined {
    return (this.#items ??= this.#compute())[this.#at++];
  }
}

export class Namespace {
  readonly attributes = new Map<string, Value>();
}

export type Call = (args: readonly Value[], named: ReadonlyMap<string, Value>) => Value;

/** A function, a macro, or an object that can be called. */
export class Callable {
  readonly name: string;
  readonly call: Call;
  /** What else it has: `loop.index`, `macro.name`, `cycler.next`. */
  readonly attribute: (name: string) => Value | undefined;
  /** What is written for it; null: Python writes an address in memory. */
  readonly text: (() => string) | null;
  constructor(
    name: string,
    call: Call,
    attribute: (name: string) => Value | undefined = () => undefined,
    text: (() => string) | null = null,
  ) {
    this.name = name;
    this.call = call;
    this.attribute = attribute;
    this.text = text;
  }
}

/** The value, which may be None; if there is none, an undefined one with this message. */
export const found = (value: Value | undefined, message: string): Value =>
  value === undefined ? new Undefined(message) : value;

/** A value of JavaScript: numbers with a fraction are floats, and those that were sent as such; objects and Maps are dicts. */
export function toValue(given: unknown): Value {
  if (given === null || typeof given === 'string' || typeof given === 'boolean') return given;
  if (given === undefined) return new Undefined('the value is undefined');
  if (typeof given === 'number') return Number.isSafeInteger(given) ? given + 0 : new PythonFloat(given);
  if (typeof given === 'bigint') return toInteger(given);
  if (given instanceof PythonFloat || given instanceof Callable) return given;
  if (Array.isArray(given)) return pythonItems(given).map(toValue);
  const dict = new Dict();
  const entries = given instanceof Map ? (given as Map<string, unknown>) : pythonEntries(isObject(given) ? given : {});
  for (const [key, item] of entries) if (item !== undefined) dict.set(key, toValue(item));
  return dict;
}

export const toInteger = (value: bigint): number | bigint => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
};

function hashOf(key: Value): unknown {
  if (key === null || typeof key === 'bigint') return key;
  if (typeof key === 'string') return key.startsWith('\0') ? `\0${key}` : key;
  if (typeof key === 'number') return key;
  if (typeof key === 'boolean') return Number(key);
  if (key instanceof PythonFloat) return key.value;
  if (key instanceof Tuple)
    return `\0tuple ${JSON.stringify(key.items.map((item) => [typeof item, String(hashOf(item))]))}`;
  if (key instanceof Range) return `\0range ${key.items.join()}`; // equal ranges have the same items
  if (key instanceof Undefined) return '\0undefined'; // they are equal, and have one hash
  throw new TemplateError(`unhashable type: '${typeName(key)}'`);
}

export function typeName(value: Value): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number' || typeof value === 'bigint') return 'int';
  if (value instanceof PythonFloat) return 'float';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Tuple) return 'tuple';
  if (value instanceof Dict) return 'dict';
  if (value instanceof View) return value.kind;
  if (value instanceof Range) return 'range';
  if (value instanceof Generated) return 'generator';
  if (value instanceof Namespace) return 'Namespace';
  return value instanceof Undefined ? 'Undefined' : 'function';
}

export const isInteger = (value: Value): value is number | bigint | boolean =>
  typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean';

export const isNumber = (value: Value): value is number | bigint | boolean | PythonFloat =>
  isInteger(value) || value instanceof PythonFloat;

export const isSequence = (value: Value): value is Value[] | Tuple | string =>
  Array.isArray(value) || value instanceof Tuple || typeof value === 'string';

export function isTrue(value: Value): boolean {
  if (value === null || value instanceof Undefined) return false;
  if (typeof value === 'string' || Array.isArray(value)) return value.length > 0;
  if (isNumber(value)) return value instanceof PythonFloat ? value.value !== 0 : Number(value) !== 0;
  if (value instanceof Tuple || value instanceof Range) return value.items.length > 0;
  if (value instanceof Dict) return value.size > 0;
  return value instanceof View ? value.dict.size > 0 : true;
}

const SURROGATES = /[\ud800-\udfff]/;

/** Python counts and cuts strings by code points. */
export const characters = (text: string): readonly string[] | string =>
  SURROGATES.test(text) ? Array.from(text) : text;

/** Throws for values without a length. */
export function lengthOf(value: Value): number {
  if (typeof value === 'string') return characters(value).length;
  if (Array.isArray(value)) return value.length;
  if (value instanceof Tuple || value instanceof Range) return value.items.length;
  if (value instanceof Dict) return value.size;
  if (value instanceof View) return value.dict.size;
  if (value instanceof Undefined) return 0;
  throw new TemplateError(`object of type '${typeName(value)}' has no len()`);
}

/** Null: it cannot be iterated. */
function itemsOrNull(value: Value): readonly Value[] | null {
  if (typeof value === 'string') return Array.from(value);
  if (Array.isArray(value)) return value;
  if (value instanceof Tuple || value instanceof Range) return value.items;
  if (value instanceof Dict) return value.keys();
  if (value instanceof View) return value.items();
  if (value instanceof Generated) return value.take();
  return value instanceof Undefined ? [] : null;
}

export const isIterable = (value: Value): boolean =>
  value instanceof Generated || (!(value instanceof Callable) && itemsOrNull(value) !== null);

/** Throws for values without items. */
export function itemsOf(value: Value): readonly Value[] {
  const items = itemsOrNull(value);
  if (items === null) throw new TemplateError(`'${typeName(value)}' object is not iterable`);
  return items;
}

/** An integer argument: a count, a width, an index. */
export function asCount(value: Value): number {
  if (isInteger(value)) return Number(value);
  if (value instanceof Undefined) value.fail();
  throw new TemplateError(`'${typeName(value)}' object cannot be interpreted as an integer`);
}
