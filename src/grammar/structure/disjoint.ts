// Which schemas of a oneOf cannot hold together, as far as their own keywords show it: their types differ, they list other values, or
// they describe objects that need a property with other values (a discriminator). Does not expand schemas and may miss a pair.
import { canonicalJson } from '#base/exact-json';
import { isObject } from '#base/is-object';
import { ALL_TYPES, TYPES } from './alternatives.ts';
import { typesOf, valuesOf } from './keyword-values.ts';
import type { Lit } from './literals.ts';
import { Reading, type SchemaContext } from './reading.ts';
import { typeOf } from './refusal.ts';

/** Every value for which the schema holds is in it; so may be others. */
interface Outline {
  readonly types: number;
  /** The numbers, strings, booleans and null that are possible; null: any. */
  readonly scalars: ReadonlySet<string> | null;
  /** The possible values of properties that an object must have, where only scalars are possible. */
  readonly properties: ReadonlyMap<string, ReadonlySet<string>>;
}

const SCALARS = TYPES.null | TYPES.boolean | TYPES.number | TYPES.string;
const ANYTHING: Outline = { types: ALL_TYPES, scalars: null, properties: new Map() };
const DEPTH_MAX = 4; // references and properties followed

/** For each schema, the indices of the others that may hold for a value for which it holds. */
export function rivalsOf(schemas: readonly Lit[], context: SchemaContext): number[][] {
  context.spend(schemas.length ** 2 / 10);
  const outlines = schemas.map((lit) => outlineOf(lit, context, 0));
  const indices = [...schemas.keys()];
  return outlines.map((one, i) => indices.filter((j) => i !== j && mayMeet(one, outlines[j]!)));
}

function outlineOf(lit: Lit, context: SchemaContext, depth: number): Outline {
  const { raw, pointer } = lit.node;
  if (lit.negated || typeof raw === 'boolean' || depth > DEPTH_MAX) return ANYTHING;
  const reading = new Reading(lit, context);
  if (typeof raw.$ref === 'string') return outlineOf(reading.referred('$ref', raw.$ref, false), context, depth + 1);
  const values = valuesOf(raw, pointer);
  context.spend((values?.length ?? 0) / 10);
  const types = typesOf(raw, pointer)?.types ?? ALL_TYPES;
  return {
    types: values === null ? types : types & values.reduce<number>((all, value) => all | TYPES[typeOf(value)], 0),
    scalars: values === null ? null : new Set(values.filter(isScalar).map(keyOf)),
    properties: types & TYPES.object ? neededValues(reading, depth) : new Map(),
  };
}

function neededValues(reading: Reading, depth: number): Map<string, ReadonlySet<string>> {
  const { required, properties } = reading.raw;
  const needed = new Map<string, ReadonlySet<string>>();
  if (!Array.isArray(required) || !isObject(properties)) return needed;
  for (const name of required as readonly unknown[]) {
    if (typeof name !== 'string' || !Object.hasOwn(properties, name)) continue;
    const property = reading.literal(properties[name], reading.at('properties', name));
    const { types, scalars } = outlineOf(property, reading.context, depth + 1);
    if ((types & ~SCALARS) === 0 && scalars !== null) needed.set(name, scalars);
  }
  return needed;
}

function mayMeet(one: Outline, other: Outline): boolean {
  const types = one.types & other.types;
  if (types & TYPES.array) return true;
  if (types & SCALARS && mayShare(one.scalars, other.scalars)) return true;
  if (!(types & TYPES.object)) return false;
  return [...one.properties].every(([name, values]) => mayShare(values, other.properties.get(name) ?? null));
}

function mayShare(one: ReadonlySet<string> | null, other: ReadonlySet<string> | null): boolean {
  if (one === null || other === null) return true;
  const [few, many] = one.size < other.size ? [one, other] : [other, one];
  for (const value of few) if (many.has(value)) return true;
  return false;
}

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** Equal for equal scalars: 1, 1.0 and 1n are one number. */
const keyOf = (value: unknown): string =>
  canonicalJson(Number.isInteger(value) && typeof value === 'number' ? BigInt(value) : value);
