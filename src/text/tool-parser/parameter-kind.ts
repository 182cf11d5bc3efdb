// What a parameter of a tool is, as far as its schema says: where a syntax writes all values as bare text, only this tells `3` from
// "3". Readers of calls and constraints on them must agree, so both ask here.
import { isObject } from '#base/is-object';

type ParameterKind = 'string' | 'boolean' | 'number' | 'other';

export interface ParameterType {
  readonly kind: ParameterKind;
  /** `null` is a value of it. */
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

/** Of a schema that says nothing, or of none: a string, as it was written. Of several types the first counts that is not null. */
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
