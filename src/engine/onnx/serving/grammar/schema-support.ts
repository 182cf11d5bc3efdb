// What the grammar library does with a JSON schema, and what it would silently leave out: the first is written so that it
// understands it, the second is refused by name and place. An answer that validates is the promise.
import { AppError } from '#domain/errors';

type Json = Readonly<Record<string, unknown>>;
type Schema = boolean | Json;

/** Keywords that the library ignores, or gets wrong. */
const NOT_ENFORCED: ReadonlySet<string> = new Set([
  'multipleOf', 'uniqueItems', 'contains', 'minContains', 'maxContains', 'patternProperties', 'not', 'if', 'then', 'else',
  'dependentRequired', 'dependentSchemas', 'dependencies', 'minProperties', 'maxProperties', '$dynamicRef', '$recursiveRef',
]); // prettier-ignore

const SAYS_TYPE = ['type', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf'] as const;

/** Keywords that only make sense for one type: a schema without `type` gets theirs, which is stricter and never wrong. */
const TYPE_OF: Readonly<Record<string, string>> = {
  properties: 'object', required: 'object', additionalProperties: 'object', propertyNames: 'object', unevaluatedProperties: 'object',
  items: 'array', prefixItems: 'array', minItems: 'array', maxItems: 'array', unevaluatedItems: 'array',
  pattern: 'string', minLength: 'string', maxLength: 'string', format: 'string',
  minimum: 'number', maximum: 'number', exclusiveMinimum: 'number', exclusiveMaximum: 'number',
}; // prettier-ignore

const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;

const DEPTH_MAX = 64; // deeper schemas are made to break parsers

/** JSON text in, JSON text out. Throws `invalid_constraint`. */
export const readableSchema = (source: string): string => JSON.stringify(readSchema(parseJson(source), '', 0));

/** A structural tag, with the schemas in it. */
export function readableTag(source: string): string {
  const read = (part: unknown, depth: number): unknown => {
    if (depth > DEPTH_MAX) throw refusal('', `it is nested more than ${DEPTH_MAX} deep`);
    if (Array.isArray(part)) return part.map((item) => read(item, depth + 1));
    if (!isJson(part)) return part;
    if (part.type === 'json_schema') return { ...part, json_schema: readSchema(part.json_schema, '', 0) };
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, read(value, depth + 1)]));
  };
  return JSON.stringify(read(parseJson(source), 0));
}

function parseJson(source: string): unknown {
  try {
    return JSON.parse(source) as unknown;
  } catch (cause) {
    throw refusal('', `it is not JSON (${cause instanceof Error ? cause.message : String(cause)})`);
  }
}

function readSchema(schema: unknown, path: string, depth: number): Schema {
  if (depth > DEPTH_MAX) throw refusal(path, `it is nested more than ${DEPTH_MAX} deep`);
  if (schema === true) return schema;
  if (schema === false) throw refusal(path, 'false allows nothing');
  if (!isJson(schema)) throw refusal(path, 'a schema is an object or true');
  checkKeywords(schema, path);
  const typed = withType(schema);
  checkBounds(typed, path);
  return withRequired(readParts(typed, path, depth), path);
}

function checkKeywords(schema: Json, path: string): void {
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    const isHarmless = value === false && keyword === 'uniqueItems';
    if (NOT_ENFORCED.has(keyword) && !isHarmless) throw refusal(`${path}/${keyword}`, `\`${keyword}\` cannot be enforced here`);
  }
  if (isJson(schema.propertyNames) && Object.keys(schema.propertyNames).some((key) => key !== 'type'))
    throw refusal(`${path}/propertyNames`, '`propertyNames` cannot be enforced here');
  if (typeof schema.$ref === 'string' && !/^#(?:\/|$)/.test(schema.$ref))
    throw refusal(`${path}/$ref`, 'only references into the schema itself (#/…) can be followed');
  if (schema.pattern !== undefined && (schema.minLength !== undefined || schema.maxLength !== undefined))
    throw refusal(`${path}/pattern`, '`pattern` together with `minLength` or `maxLength` cannot be enforced here');
  const combined = (['anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'const'] as const).filter((key) => schema[key] !== undefined);
  if (combined.length > 1) throw refusal(path, `${combined.join(' and ')} together cannot be enforced here`);
  if (Array.isArray(schema.allOf) && schema.allOf.length > 1)
    throw refusal(`${path}/allOf`, '`allOf` with more than one schema cannot be enforced here');
  const [only] = combined;
  const beside = Object.keys(schema).find((key) => TYPE_OF[key] !== undefined);
  if (only !== undefined && only !== 'enum' && only !== 'const' && beside !== undefined)
    throw refusal(`${path}/${beside}`, `\`${beside}\` beside \`${only}\` cannot be enforced here`);
} // prettier-ignore

function withType(schema: Json): Json {
  if (SAYS_TYPE.some((key) => schema[key] !== undefined)) return schema;
  const types = new Set(Object.keys(schema).flatMap((key) => TYPE_OF[key] ?? []));
  return types.size === 1 ? { ...schema, type: [...types][0] } : schema;
}

/** The library bounds integers only. */
function checkBounds(schema: Json, path: string): void {
  const types = Array.isArray(schema.type) ? (schema.type as unknown[]) : [schema.type];
  const bound = BOUNDS.find((key) => schema[key] !== undefined);
  if (bound === undefined) return;
  if (types.includes('number') || !types.includes('integer'))
    throw refusal(`${path}/${bound}`, `\`${bound}\` can be enforced for integers only`);
  const value = schema[bound];
  if (!Number.isSafeInteger(value)) throw refusal(`${path}/${bound}`, `\`${bound}\` must be an integer`);
}

const SCHEMA_KEYS = ['items', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'] as const;
const LIST_KEYS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const;
const MAP_KEYS = ['properties', '$defs', 'definitions'] as const;

function readParts(schema: Json, path: string, depth: number): Json {
  const read: Record<string, unknown> = { ...schema };
  delete read.propertyNames; // nothing but "type": "string" is left of it here
  for (const key of SCHEMA_KEYS) {
    if (isJson(schema[key])) read[key] = readSchema(schema[key], `${path}/${key}`, depth + 1);
  }
  for (const key of LIST_KEYS) {
    const list = schema[key];
    if (list === undefined) continue;
    if (!Array.isArray(list) || list.length === 0) throw refusal(`${path}/${key}`, `\`${key}\` must be a list of schemas`);
    read[key] = list.map((item: unknown, i) => readSchema(item, `${path}/${key}/${i}`, depth + 1));
  }
  for (const key of MAP_KEYS) {
    const map = schema[key];
    if (map === undefined) continue;
    if (!isJson(map)) throw refusal(`${path}/${key}`, `\`${key}\` must be an object of schemas`);
    read[key] = Object.fromEntries(
      Object.entries(map).map(([name, item]) => [name, readSchema(item, `${path}/${key}/${name}`, depth + 1)]),
    );
  }
  if (Array.isArray(schema.enum) && schema.enum.length === 0) throw refusal(`${path}/enum`, 'an empty `enum` allows nothing');
  return read;
} // prettier-ignore

/** Required properties that are not described are described as what they may be, or the library forgets them. */
function withRequired(schema: Json, path: string): Json {
  if (!Array.isArray(schema.required)) return schema;
  const properties = isJson(schema.properties) ? schema.properties : {};
  const missing = (schema.required as unknown[]).filter((name) => typeof name === 'string' && !(name in properties));
  if (missing.length === 0) return schema;
  const rest = schema.additionalProperties ?? true;
  if (rest === false)
    throw refusal(`${path}/required`, `\`${String(missing[0])}\` is required, but \`additionalProperties\` forbids it`);
  return { ...schema, properties: { ...properties, ...Object.fromEntries(missing.map((name) => [name, rest])) } };
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const refusal = (path: string, reason: string): AppError =>
  new AppError(
    'invalid_constraint',
    `This JSON schema cannot be used: at ${path === '' ? 'its root' : path}, ${reason}.`,
  );
