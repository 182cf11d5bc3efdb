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

type Schema = Readonly<Record<string, unknown>>;

/** What a schema says; null: anything. */
interface Said {
  readonly types: ReadonlySet<JsonType> | null;
  readonly values: readonly unknown[] | null;
}

const ANYTHING: Said = { types: null, values: null };
const ONE_OF = ['anyOf', 'oneOf'];
/** Schemas that refer to themselves end here, and so do long chains of references. */
const DEPTH_MAX = 20;

/** `root`: the document in which its references are resolved. */
export function parameterTypes(schema: unknown, root: unknown): ParameterTypes {
  const { types, values } = said(schema, root, 0);
  return { types: types !== null && types.size > 0 ? types : new Set(['string']), values };
}

export const isOnlyString = ({ types }: ParameterTypes): boolean => types.size === 1 && types.has('string');

function said(schema: unknown, root: unknown, depth: number): Said {
  if (!isObject(schema) || depth > DEPTH_MAX) return ANYTHING;
  const within = (each: unknown) => said(each, root, depth + 1);
  const parts: Said[] = [ownTypes(schema), ownValues(schema)];
  if (typeof schema.$ref === 'string') parts.push(within(referred(schema.$ref, root)));
  if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map(within));
  for (const key of ONE_OF) if (Array.isArray(schema[key])) parts.push(schema[key].map(within).reduce(either, NOTHING));
  const all = parts.reduce(both, ANYTHING);
  return all.types === null ? { ...all, types: impliedTypes(schema) } : all;
}

const NOTHING: Said = { types: new Set(), values: [] };

function either(a: Said, b: Said): Said {
  return {
    types: a.types === null || b.types === null ? null : new Set([...a.types, ...b.types]),
    values: a.values === null || b.values === null ? null : [...a.values, ...b.values],
  };
}

function both(a: Said, b: Said): Said {
  return {
    types: a.types === null ? b.types : b.types === null ? a.types : common(a.types, b.types),
    values: a.values ?? b.values,
  };
}

/** Integers are numbers too. */
function common(a: ReadonlySet<JsonType>, b: ReadonlySet<JsonType>): ReadonlySet<JsonType> {
  const inside = (type: JsonType, other: ReadonlySet<JsonType>) =>
    other.has(type) || (type === 'integer' && other.has('number'));
  return new Set([...a].filter((type) => inside(type, b)).concat([...b].filter((type) => inside(type, a))));
}

function ownTypes({ type }: Schema): Said {
  if (type === undefined) return ANYTHING;
  const known = (Array.isArray(type) ? type : [type]).filter((each) => JSON_TYPES.includes(each as JsonType));
  return { types: known.length > 0 ? new Set(known as JsonType[]) : null, values: null };
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
function referred(reference: string, root: unknown): unknown {
  if (!reference.startsWith('#')) return undefined;
  const keys = reference.slice(1).split('/').slice(1);
  return keys.reduce<unknown>((at, key) => {
    const name = decoded(key).replaceAll('~1', '/').replaceAll('~0', '~');
    return (isObject(at) || Array.isArray(at)) && Object.hasOwn(at, name) ? (at as Schema)[name] : undefined;
  }, root);
}

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
 * The schema of a property, or of the items of a list (`key` null), also where a reference or a combination brings it: the first one that
 * is found. Undefined: none.
 */
export function schemaWithin(schema: unknown, key: string | null, root: unknown, depth = 0): unknown {
  if (!isObject(schema) || depth > DEPTH_MAX) return undefined;
  if (key === null && isObject(schema.items)) return schema.items;
  if (key !== null && isObject(schema.properties) && Object.hasOwn(schema.properties, key))
    return schema.properties[key];
  const parts: unknown[] = typeof schema.$ref === 'string' ? [referred(schema.$ref, root)] : [];
  for (const each of ['allOf', ...ONE_OF]) if (Array.isArray(schema[each])) parts.push(...(schema[each] as unknown[]));
  for (const part of parts) {
    const found = schemaWithin(part, key, root, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
