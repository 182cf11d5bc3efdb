// The parameters of a tool, or the properties of an object in them, also where references and combinations bring them. A tool that is not
// strict is called with the names that its schema has anywhere; what else the schema demands of the object is not followed for it.
import { isObject } from '#base/is-object';
import type { ToolDefinition } from '#domain/chat';
import { CHOICES, DEPTH_MAX, referred, schemaWithin } from '#text/tool-parser/parameter-types';

export interface Parameter {
  readonly name: string;
  readonly schema: unknown;
  readonly required: boolean;
}

/** Why a syntax cannot express some parameters; it ends the sentence "… cannot be enforced in the tool-call syntax …: ". */
export class Inexpressible extends Error {}

/** The syntax has no way to write a name: no call of the tool would be read back, so it is refused, strict or not. */
export class Unwritable extends Inexpressible {}

/** Keywords that demand nothing of a value. */
const WORDS =
  '$defs definitions $schema $id $comment title description default examples deprecated readOnly writeOnly discriminator'.split(
    ' ',
  );
const KNOWN = new Set(['type', 'properties', 'required', 'additionalProperties', '$ref', 'allOf', ...WORDS]);

/** The keywords that demand something. */
export const demandsOf = (schema: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(schema).filter((key) => !WORDS.includes(key) && !key.startsWith('x-'));

interface Found {
  readonly schemas: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
  /** Whether the schema forbids other names than its own. */
  readonly isClosed: boolean;
  /** The first keyword that is not followed. */
  readonly beyond: string | null;
}

const NOTHING: Found = { schemas: new Map(), required: new Set(), isClosed: false, beyond: null };

/** Required ones first. Throws Inexpressible. */
export function parametersOf({ function: { parameters } }: ToolDefinition, isStrict: boolean): Parameter[] {
  if (parameters === undefined || parameters === null) return [];
  if (!isObject(parameters)) throw new Inexpressible('parameters must be an object schema');
  return propertiesOf(parameters, parameters, isStrict);
}

/** `root`: the document in which references are resolved. */
export function propertiesOf(schema: unknown, root: unknown, isStrict: boolean): Parameter[] {
  const { schemas, required, beyond } = found(schema, root, 0);
  if (beyond !== null && (isStrict || schemas.size === 0))
    throw new Inexpressible(`\`${beyond}\` beside properties is not supported`);
  const missing = [...required].filter((name) => !schemas.has(name));
  if (isStrict && missing.length > 0)
    throw new Inexpressible(`the required property ${JSON.stringify(missing[0])} has no schema`);
  const all = [...schemas, ...missing.map((name) => [name, {}] as const)].map(([name, each]) => ({
    name,
    schema: each,
    required: required.has(name),
  }));
  return [...all.filter((each) => each.required), ...all.filter((each) => !each.required)];
}

/**
 * The schema of all properties of an object whose schema names none of them: false: it has none; true: they may be anything. For the
 * arguments of a tool, only what is said counts.
 */
export function unnamed(schema: unknown, root: unknown): unknown {
  const { schemas, required, isClosed, beyond } = found(schema, root, 0);
  if (beyond !== null || schemas.size > 0 || required.size > 0 || isClosed) return false;
  const isSilent = schema === root && !(isObject(schema) && schema.additionalProperties === true);
  return schemaWithin(schema, '', root) ?? !isSilent;
}

function found(schema: unknown, root: unknown, depth: number): Found {
  if (!isObject(schema)) return NOTHING;
  if (depth > DEPTH_MAX) return { ...NOTHING, beyond: '$ref' };
  const inside = (each: unknown) => found(each, root, depth + 1);
  const own: Found = {
    schemas: new Map(isObject(schema.properties) ? Object.entries(schema.properties) : []),
    required: new Set(Array.isArray(schema.required) ? schema.required.map(String) : []),
    isClosed: schema.additionalProperties === false,
    beyond: demandsOf(schema).find((key) => !KNOWN.has(key)) ?? null,
  };
  const parts = [own];
  if (typeof schema.$ref === 'string') {
    const target = referred(schema.$ref, root);
    parts.push(target === undefined ? { ...NOTHING, beyond: '$ref' } : inside(target));
  }
  if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map(inside));
  for (const key of CHOICES) {
    const options = schema[key];
    if (Array.isArray(options) && options.length > 0) parts.push(options.map(inside).reduce(either));
  }
  return parts.reduce(both);
}

function both(a: Found, b: Found): Found {
  const isForbidden = (part: Found, other: Found) =>
    part.isClosed && [...other.schemas.keys()].some((name) => !part.schemas.has(name));
  const beyond = isForbidden(a, b) || isForbidden(b, a) ? 'additionalProperties' : null;
  return {
    schemas: joinedSchemas(a, b, 'allOf'),
    required: new Set([...a.required, ...b.required]),
    isClosed: a.isClosed || b.isClosed,
    beyond: a.beyond ?? b.beyond ?? beyond,
  };
}

const either = (a: Found, b: Found): Found => ({
  schemas: joinedSchemas(a, b, 'anyOf'),
  required: new Set([...a.required].filter((name) => b.required.has(name))),
  isClosed: a.isClosed && b.isClosed,
  beyond: a.beyond ?? b.beyond,
});

function joinedSchemas(a: Found, b: Found, key: 'allOf' | 'anyOf'): ReadonlyMap<string, unknown> {
  const joined = new Map(a.schemas);
  for (const [name, schema] of b.schemas)
    joined.set(name, joined.has(name) ? { [key]: [joined.get(name), schema] } : schema);
  return joined;
}
