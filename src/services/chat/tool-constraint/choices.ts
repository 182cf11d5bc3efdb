// Schemas of which one holds for a value: an alias stands for its target, and a choice for its options. Syntaxes that spell values out write
// each option. Two options of `oneOf` that may hold at once are no choice, because a value must not satisfy both.
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '#base/is-object';
import { DEPTH_MAX, parameterTypes, referred, schemaWithin } from '#text/tool-parser/parameter-types';
import { demandsOf, Inexpressible } from './parameters.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Null: the schema is neither an alias nor a choice, or demands more. `root`: the document in which references are resolved. Throws Inexpressible. */
export function choicesOf(schema: unknown, root: unknown, depth = 0): readonly unknown[] | null {
  if (!isObject(schema)) return null;
  if (depth > DEPTH_MAX) throw new Inexpressible('a choice that contains itself is not supported');
  const [demand, ...others] = demandsOf(schema);
  if (demand === undefined || others.length > 0) return null;
  const inside = (each: unknown) => choicesOf(each, root, depth + 1) ?? [each];
  if (demand === '$ref') return inside(targetOf(schema, root));
  const options = schema[demand];
  if (!Array.isArray(options) || !['allOf', 'anyOf', 'oneOf'].includes(demand)) return null;
  if (demand === 'allOf') return options.length === 1 ? inside(options[0]) : null;
  const all = options.flatMap(inside);
  const isApart = demand === 'anyOf' || all.every((a, i) => all.slice(i + 1).every((b) => areApart(a, b, root, 0)));
  return isApart ? all : null;
}

/** Throws Inexpressible: there is no such schema. */
export function targetOf({ $ref: reference }: Schema, root: unknown): unknown {
  const target = typeof reference === 'string' ? referred(reference, root) : undefined;
  if (target === undefined)
    throw new Inexpressible(`the reference ${JSON.stringify(reference)} leads to no schema of the tool`);
  return target;
}

/** Whether certainly no value satisfies both: their types or values differ, or those of a property that both require. */
function areApart(a: unknown, b: unknown, root: unknown, depth: number): boolean {
  if (depth > 2 || !saysType(a) || !saysType(b)) return false;
  const [one, other] = [parameterTypes(a, root), parameterTypes(b, root)];
  const types = [...one.types, ...other.types].map((type) => (type === 'integer' ? 'number' : type));
  if (new Set(types).size === types.length) return true;
  if (one.values !== null && other.values !== null)
    return !one.values.some((value) => other.values!.some((each) => isDeepStrictEqual(each, value)));
  return requiredBy(a).some(
    (name) =>
      requiredBy(b).includes(name) &&
      areApart(schemaWithin(a, name, root), schemaWithin(b, name, root), root, depth + 1),
  );
}

const saysType = (schema: unknown): schema is Schema =>
  isObject(schema) && ['type', 'const', 'enum'].some((key) => key in schema);

const requiredBy = ({ type, required }: Schema): readonly string[] =>
  type === 'object' && Array.isArray(required) ? required.map(String) : [];
