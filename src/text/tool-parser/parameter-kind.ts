// The type of a tool's parameter, as far as its schema says: in syntaxes that write all values as bare text, only this distinguishes `3` from
// "3". Parsers of calls and constraints on them must agree, so both use it.
import { isObject } from '#base/is-object';

type ParameterKind = 'string' | 'boolean' | 'number' | 'other';

export interface ParameterType {
  readonly kind: ParameterKind;
  /** `null` is an allowed value. */
  readonly nullable: boolean;
}

const KINDS: Readonly<Record<string, ParameterKind>> = {
  string: 'string',
  boolean: 'boolean',
  integer: 'number',
  number: 'number',
  object: 'other',
  array: 'other',
};

/** If the schema says nothing, or is missing: a string, as written. Of several types, the first that is not null counts. */
export function parameterType(schema: unknown): ParameterType {
  const types = typesOf(schema);
  const first = types.find((type) => type !== 'null');
  const kind = first === undefined ? (types.includes('null') ? 'other' : 'string') : (KINDS[first] ?? 'string');
  return { kind, nullable: types.includes('null') };
}

function typesOf(schema: unknown): string[] {
  if (!isObject(schema)) return [];
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((each): each is string => typeof each === 'string');
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray) as unknown[] | undefined;
  if (options) return options.flatMap(typesOf);
  const values = Array.isArray(schema.enum) ? (schema.enum as unknown[]) : 'const' in schema ? [schema.const] : [];
  if (values.length > 0) return values.map(typeOf);
  return typeof schema.$ref === 'string' || 'properties' in schema ? ['object'] : [];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
