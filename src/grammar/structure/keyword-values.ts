// Reads and checks the values of schema keywords: bounds, types, lists, items in both forms. Throws a refusal that names the location
// of an invalid value.
import { canonicalJson, stringifyExactJson } from '#base/exact-json';
import { isObject } from '#base/is-object';
import type { JsonNumber } from '../lexemes/numbers.ts';
import { ALL_TYPES, TYPES, type Alternative } from './alternatives.ts';
import { namesOf, refusal, typeOf, type Json } from './refusal.ts';

export function listOf(content: unknown, place: string): readonly unknown[] {
  if (Array.isArray(content) && content.length > 0) return content;
  throw refusal(place, 'the value must be a list that is not empty');
}

function numberOf(schema: Json, key: string, pointer: string): JsonNumber | null {
  const given = schema[key];
  if (given === undefined) return null;
  if (typeof given === 'bigint' || (typeof given === 'number' && Number.isFinite(given))) return given;
  throw refusal(`${pointer}/${key}`, 'the value must be a number');
}

/** Bounds in both forms: in draft 4, a boolean says that the bound itself is excluded. */
export function bounds(raw: Json, pointer: string) {
  const all: { value: JsonNumber; inclusive: boolean; isLow: boolean }[] = [];
  for (const [key, exclusive, isLow] of [
    ['minimum', 'exclusiveMinimum', true],
    ['maximum', 'exclusiveMaximum', false],
  ] as const) {
    const flag = typeof raw[exclusive] === 'boolean' ? raw[exclusive] : null;
    const value = numberOf(raw, key, pointer);
    if (value !== null) all.push({ value, inclusive: flag !== true, isLow });
    const other = flag === null ? numberOf(raw, exclusive, pointer) : null;
    if (other !== null) all.push({ value: other, inclusive: false, isLow });
  }
  return all;
}

export function stepOf(raw: Json, pointer: string): JsonNumber | null {
  const step = numberOf(raw, 'multipleOf', pointer);
  if (step !== null && !(step > 0)) throw refusal(`${pointer}/multipleOf`, 'the value must be greater than 0');
  return step;
}

export function typesOf(raw: Json, pointer: string): { types: number; integer: boolean } | null {
  if (raw.type === undefined) return null;
  const given = [raw.type].flat();
  if (given.length === 0) throw refusal(`${pointer}/type`, 'the value must be a type, or a list of types');
  let types = 0;
  for (const type of given) {
    const bit = type === 'integer' ? TYPES.number : type === 'any' ? ALL_TYPES : TYPES[type as keyof typeof TYPES];
    if (typeof type !== 'string' || bit === undefined)
      throw refusal(`${pointer}/type`, `${JSON.stringify(type)} is not a JSON type`);
    types |= bit;
  }
  return { types, integer: given.includes('integer') && !given.includes('number') && !given.includes('any') };
}

export function valuesOf(raw: Json, pointer: string): readonly unknown[] | null {
  for (const key of ['const', 'enum'])
    if (raw[key] !== undefined && isBeyondNumbers(raw[key]))
      throw refusal(`${pointer}/${key}`, 'the value contains a number larger than 1.8e308');
  let values: readonly unknown[] | null = null;
  if (raw.enum !== undefined) values = listOf(raw.enum, `${pointer}/enum`);
  if (raw.const === undefined) return values;
  return values === null ? [raw.const] : values.filter((value) => isEqual(value, raw.const));
}

/** The keywords that describe items, in both forms. */
export function itemsOf(raw: Json, pointer: string) {
  const isOld = Array.isArray(raw.items);
  const prefix = (isOld ? raw.items : (raw.prefixItems ?? [])) as readonly unknown[];
  if (!Array.isArray(prefix)) throw refusal(`${pointer}/prefixItems`, 'the value must be a list');
  const [prefixKey, restKey] = isOld ? ['items', 'additionalItems'] : ['prefixItems', 'items'];
  return { prefix, prefixKey, rest: raw[restKey], restKey };
}

export function dependencies(raw: Json, pointer: string) {
  const names: [string, readonly string[]][] = [];
  const schemas: [string, unknown, string][] = [];
  for (const key of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    if (raw[key] === undefined) continue;
    if (!isObject(raw[key])) throw refusal(`${pointer}/${key}`, 'the value must be an object');
    for (const [name, what] of Object.entries(raw[key]))
      if (Array.isArray(what) || (typeof what === 'string' && key === 'dependencies'))
        names.push([name, namesOf([what].flat(), `${pointer}/${key}/${name}`)]);
      else schemas.push([name, what, `${pointer}/${key}/${name}`]);
  }
  return { names, schemas };
}

export function isEqual(a: unknown, b: unknown): boolean {
  const isPart = (value: unknown) => typeof value === 'object' && value !== null;
  if (isPart(a) && isPart(b)) return canonicalJson(a) === canonicalJson(b);
  return (
    a === b ||
    ((typeof a === 'bigint' || typeof b === 'bigint') && typeof a !== 'string' && typeof b !== 'string' && a == b)
  );
}

const isBeyondNumbers = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some(isBeyondNumbers)
    : value === Infinity || value === -Infinity;

export const hasTwins = (items: readonly unknown[]): boolean =>
  items.some((item, i) => items.slice(0, i).some((other) => isEqual(item, other)));

/** Removes scalars from the possible values. */
export function excludeScalars(to: Alternative, values: readonly unknown[]): void {
  const numbers: JsonNumber[] = [];
  const strings: string[] = [];
  for (const value of values) {
    if (value === null) to.types &= ~TYPES.null;
    else if (typeof value === 'boolean') to.booleans &= value ? 1 : 2;
    else if (typeof value === 'string') strings.push(value);
    else if (typeof value !== 'object') numbers.push(value as JsonNumber);
  }
  to.notStrings = [...to.notStrings, ...strings];
  if (numbers.length > 0) to.number = { ...to.number, not: [...to.number.not, ...numbers] };
  if (to.values !== null)
    to.values = to.values.filter(
      (value) =>
        typeOf(value) === 'object' || typeOf(value) === 'array' || !values.some((other) => isEqual(value, other)),
    );
}

const NARROWED = /"(format|multipleOf|\$ref|\$dynamicRef|unevaluated\w+)":/;

/** Whether the engine enforces the schema more narrowly than the specification, or the schema refers to one that may be. */
export function isNarrowed(raw: Json | boolean): boolean {
  if (typeof raw === 'boolean') return false;
  const known = narrowed.get(raw) ?? NARROWED.test(stringifyExactJson(raw));
  narrowed.set(raw, known);
  return known;
}
const narrowed = new WeakMap<Json, boolean>();
