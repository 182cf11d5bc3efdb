// The types that a tool's schema allows for a parameter: in syntaxes that write values as bare text, only this distinguishes `3` from "3".
// Follows references, combinations, constants and untyped enumerations. Parsers of calls and constraints on them must agree, so both use
// it. Does not validate: a value that the schema forbids is still an argument.
import { isObject } from '#base/is-object';
import type { ToolDefinition } from '#domain/chat';

const JSON_TYPES = ['null', 'integer', 'number', 'boolean', 'object', 'array', 'string'] as const;
export type JsonType = (typeof JSON_TYPES)[number];

export interface ParameterTypes {
  /** Never empty: a string, if the schema says nothing or is missing. */
  readonly types: ReadonlySet<JsonType>;
  /** The only values, if the schema lists them. */
  readonly values: readonly unknown[] | null;
}

/** Other names of types, as vLLM 0.32 reads them, in any case. */
const ALIASES: Readonly<Record<string, JsonType>> = {
  ...same('string', 'str text varchar char enum'),
  ...same('integer', 'int int32 int64 uint uint32 uint64 long short unsigned'),
  ...same('number', 'float float32 float64 double'),
  ...same('boolean', 'bool'),
  ...same('object', 'dict'),
  ...same('array', 'arr list sequence'),
};

function same(type: JsonType, names: string): Record<string, JsonType> {
  return Object.fromEntries(names.split(' ').map((name) => [name, type]));
}

type Schema = Readonly<Record<string, unknown>>;

/** What a schema says; null: anything. */
interface Said {
  readonly types: ReadonlySet<JsonType> | null;
  readonly values: readonly unknown[] | null;
  /** Types that one of several choices names where another allows anything. */
  readonly named?: ReadonlySet<JsonType> | undefined;
}

const ANYTHING: Said = { types: null, values: null };
/** Keywords of which one alternative holds. */
export const CHOICES = ['anyOf', 'oneOf'];
/** Schemas that refer to themselves end here, and so do long chains of references. */
export const DEPTH_MAX = 20;

/** `root`: the document in which its references are resolved. */
export function parameterTypes(schema: unknown, root: unknown): ParameterTypes {
  const { types, values, named } = said(schema, root, 0);
  return { types: types !== null && types.size > 0 ? types : new Set([...(named ?? []), 'string']), values };
}

export const isOnlyString = ({ types }: ParameterTypes): boolean => types.size === 1 && types.has('string');

function said(schema: unknown, root: unknown, depth: number): Said {
  if (!isObject(schema) || depth > DEPTH_MAX) return ANYTHING;
  const within = (each: unknown) => said(each, root, depth + 1);
  const parts: Said[] = [ownTypes(schema), ownValues(schema), ...partsOf(schema, root).map(within)];
  for (const key of CHOICES)
    if (Array.isArray(schema[key])) parts.push(schema[key].map(within).reduce(either, NOTHING));
  const all = parts.reduce(both, ANYTHING);
  return all.types === null ? { ...all, types: impliedTypes(schema) } : all;
}

/** Schemas that hold beside it: the target of its reference, and those of `allOf`. */
export const partsOf = (schema: Schema, root: unknown): readonly unknown[] => [
  ...(typeof schema.$ref === 'string' ? [referred(schema.$ref, root)] : []),
  ...(Array.isArray(schema.allOf) ? (schema.allOf as unknown[]) : []),
];

const NOTHING: Said = { types: new Set(), values: [] };

function either(a: Said, b: Said): Said {
  return {
    types: a.types === null || b.types === null ? null : new Set([...a.types, ...b.types]),
    values: a.values === null || b.values === null ? null : [...a.values, ...b.values],
    named: new Set([...(a.types ?? a.named ?? []), ...(b.types ?? b.named ?? [])]),
  };
}

function both(a: Said, b: Said): Said {
  return {
    types: a.types === null ? b.types : b.types === null ? a.types : common(a.types, b.types),
    values: a.values ?? b.values,
    named: a.named ?? b.named,
  };
}

/** Integers are numbers too. */
function common(a: ReadonlySet<JsonType>, b: ReadonlySet<JsonType>): ReadonlySet<JsonType> {
  const inside = (type: JsonType, other: ReadonlySet<JsonType>) =>
    other.has(type) || (type === 'integer' && other.has('number'));
  return new Set([...a].filter((type) => inside(type, b)).concat([...b].filter((type) => inside(type, a))));
}

/** `nullable` is OpenAPI 3.0's, and means nothing without a type. */
function ownTypes({ type, nullable }: Schema): Said {
  if (type === undefined) return ANYTHING;
  const known = (Array.isArray(type) ? type : [type]).map(typeNamed).filter((each) => each !== undefined);
  if (known.length === 0) return ANYTHING;
  return { types: new Set(nullable === true ? [...known, 'null'] : known), values: null };
}

function typeNamed(name: unknown): JsonType | undefined {
  const word = String(name).trim().toLowerCase();
  return JSON_TYPES.find((type) => type === word) ?? (Object.hasOwn(ALIASES, word) ? ALIASES[word] : undefined);
}

function ownValues(schema: Schema): Said {
  const values = 'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? (schema.enum as unknown[]) : null;
  return values === null ? ANYTHING : { types: new Set(values.map(typeOf)), values };
}

/** Keywords that only one type has. */
function impliedTypes(schema: Schema): ReadonlySet<JsonType> | null {
  if ('properties' in schema || 'additionalProperties' in schema) return new Set(['object']);
  return 'items' in schema || 'prefixItems' in schema ? new Set(['array']) : null;
}

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number' || typeof value === 'bigint')
    return Number.isInteger(Number(value)) ? 'integer' : 'number';
  return typeof value === 'object' ? 'object' : (typeof value as 'boolean' | 'string');
}

/** The target of a reference inside the document; undefined: none. */
export function referred(reference: string, root: unknown): unknown {
  const [document, fragment = ''] = reference.split('#', 2) as [string, string?];
  const resource = document === '' ? root : namesIn(root).get(document);
  if (fragment !== '' && !fragment.startsWith('/')) return namesIn(resource).get(`#${decoded(fragment)}`);
  const keys = fragment.split('/').slice(1);
  return keys.reduce<unknown>((at, key) => {
    const name = decoded(key).replaceAll('~1', '/').replaceAll('~0', '~');
    return (isObject(at) || Array.isArray(at)) && Object.hasOwn(at, name) ? (at as Schema)[name] : undefined;
  }, resource);
}

const namesKnown = new WeakMap<object, ReadonlyMap<string, unknown>>();

/** Schemas inside a document by `$id` and, with a `#` before it, by anchor: of several, the first. */
function namesIn(root: unknown): ReadonlyMap<string, unknown> {
  if (!isObject(root)) return NAMELESS;
  const before = namesKnown.get(root);
  if (before) return before;
  const names = new Map<string, unknown>();
  const note = (name: unknown, mark: string, schema: Schema) => {
    if (typeof name === 'string' && !names.has(mark + name)) names.set(mark + name, schema);
  };
  const open: unknown[] = [root];
  for (const each of open) {
    if (isObject(each)) {
      note(each.$id, '', each);
      for (const anchor of [each.$anchor, each.$dynamicAnchor]) note(anchor, '#', each);
    }
    if (typeof each === 'object' && each !== null) for (const inner of Object.values(each)) open.push(inner); // read in this loop
  }
  namesKnown.set(root, names);
  return names;
}

const NAMELESS: ReadonlyMap<string, unknown> = new Map();

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** The schema of a tool's arguments; undefined: there is none. */
export const argumentsSchema = (tools: readonly ToolDefinition[], name: string): unknown =>
  tools.find((tool) => tool.function.name === name)?.function.parameters;

/**
 * The schema of a property, of an item of a list (`key` is its index), or of any of its items (null), also where a reference or a combination
 * brings it: all that are found, combined. Undefined: none.
 */
export function schemaWithin(schema: unknown, key: string | number | null, root: unknown, depth = 0): unknown {
  if (!isObject(schema) || depth > DEPTH_MAX) return undefined;
  const inside = (part: unknown) => schemaWithin(part, key, root, depth + 1);
  const choices = CHOICES.flatMap((each) => (Array.isArray(schema[each]) ? [schema[each] as unknown[]] : []));
  const found = [
    typeof key === 'string' ? ownProperty(schema, key) : ownItem(schema, key),
    ...partsOf(schema, root).map(inside),
    ...choices.map((each) => combined(each.map(inside), 'anyOf')),
  ];
  return combined(found, 'allOf');
}

function combined(found: readonly unknown[], as: 'allOf' | 'anyOf'): unknown {
  const schemas = found.filter(isObject);
  return schemas.length > 1 ? { [as]: schemas } : schemas[0];
}

/** `items` as a list, as drafts before 2020-12 write it, is `prefixItems`, and `additionalItems` follows it. */
function ownItem({ items, prefixItems, additionalItems }: Schema, index: number | null): unknown {
  const isOld = Array.isArray(items);
  const first = (isOld ? items : Array.isArray(prefixItems) ? prefixItems : []) as readonly unknown[];
  const rest = isOld ? additionalItems : items;
  if (index === null) return combined([...first, rest], 'anyOf');
  return index < first.length ? first[index] : rest;
}

/** A name that the schema does not list may be of any of its patterns, or an additional one. Users' patterns are not run here. */
function ownProperty(schema: Schema, key: string): unknown {
  if (isObject(schema.properties) && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  const patterns = isObject(schema.patternProperties) ? Object.values(schema.patternProperties) : [];
  return combined([...patterns, schema.additionalProperties], 'anyOf');
}
