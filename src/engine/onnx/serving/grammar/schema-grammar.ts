// A JSON schema (2020-12 and what people write of it) → a grammar of the documents that validate. Sound before complete:
// every document of the grammar validates, and a keyword that cannot be kept to is refused by name and place. The library
// has a conversion of its own; it leaves keywords out in silence and writes control characters into strings (decision 5).
import { AppError } from '#domain/errors';
import { alternatives, INTEGER_MAX, integerRange, literal } from './gbnf.ts';
import { JSON_CHARACTER, patternGrammar } from './pattern-grammar.ts';
import { otherKeys } from './other-keys.ts';

type Json = Readonly<Record<string, unknown>>;

export interface SchemaGrammarOptions {
  /** False: compact JSON. */
  readonly anyWhitespace: boolean;
  /** A regular expression instead; null: up to 32 spaces, tabs and line breaks. */
  readonly whitespacePattern: string | null;
  /** Objects have no other properties than those that their schema names, if it names some and says nothing of others. */
  readonly strict: boolean;
}

const DEPTH_MAX = 64; // deeper schemas are made to break parsers
const COUNT_MAX = 1_000; // of repetitions, which a grammar writes out

const NOT_ENFORCED = [
  'multipleOf', 'contains', 'minContains', 'maxContains', 'patternProperties', 'not', 'if', 'then', 'else', 'dependentRequired',
  'dependentSchemas', 'dependencies', 'minProperties', 'maxProperties', '$dynamicRef', '$recursiveRef',
] as const; // prettier-ignore

/** Keywords that ask something of one type only: a schema without `type` gets theirs, which is stricter and never wrong. */
const TYPE_OF: Readonly<Record<string, string>> = {
  properties: 'object', required: 'object', additionalProperties: 'object', propertyNames: 'object', unevaluatedProperties: 'object',
  items: 'array', prefixItems: 'array', minItems: 'array', maxItems: 'array', unevaluatedItems: 'array', uniqueItems: 'array',
  pattern: 'string', minLength: 'string', maxLength: 'string', format: 'string',
  minimum: 'number', maximum: 'number', exclusiveMinimum: 'number', exclusiveMaximum: 'number',
}; // prettier-ignore

const COMBINERS = ['$ref', 'enum', 'const', 'anyOf', 'oneOf', 'allOf'] as const;

/** Patterns in the words of patternGrammar; other formats are annotations, as the specification has it. */
const FORMATS: Readonly<Record<string, string>> = {
  date: '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$',
  time: '^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$',
  'date-time': '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$',
  duration: '^P([0-9]{1,4}Y)?([0-9]{1,2}M)?[0-9]{1,2}D(T[0-9]{1,2}H)?$',
  uuid: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  ipv4: '^((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])$',
  ipv6: '^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$',
  email: '^[a-z0-9]([a-z0-9._-]{0,30}[a-z0-9])?@([a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?\\.){1,3}[a-z]{2,10}$',
  hostname: '^([a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?\\.){0,3}[a-z]{2,10}$',
  uri: '^https?://([a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?\\.){1,3}[a-z]{2,10}(/[A-Za-z0-9._~-]{1,40}){0,6}$',
}; // prettier-ignore

/** Throws `invalid_constraint`. */
export function schemaGrammar(
  root: unknown,
  { anyWhitespace, whitespacePattern, strict }: SchemaGrammarOptions,
): string {
  const rules = new Map<string, string>([...JSON_RULES]);
  rules.set('ws', spaceRule(anyWhitespace, whitespacePattern));
  const referenced = new Map<string, string>();
  let count = 0;

  /** A rule of its own, so that grammars stay as large as their schemas. */
  function define(kind: string, body: (name: string) => string): string {
    const name = `${kind}_${count++}`;
    rules.set(name, ''); // its place, before those of its parts
    rules.set(name, body(name));
    return name;
  }

  function value(schema: unknown, path: string, depth: number): string {
    if (depth > DEPTH_MAX) throw refusal(path, `it is nested more than ${DEPTH_MAX} deep`);
    if (schema === true) return 'any';
    if (schema === false) throw refusal(path, '`false` allows nothing');
    if (!isJson(schema)) throw refusal(path, 'a schema is an object or true');
    checkKeywords(schema, path);
    const combiner = COMBINERS.find((key) => schema[key] !== undefined);
    if (combiner !== undefined) return combined(schema, combiner, path, depth);
    const types = typesOf(schema, path);
    if (types.length === 0) return 'any';
    return types.length === 1
      ? typed(schema, types[0], path, depth)
      : alternatives(types.map((type) => typed(schema, type, path, depth)));
  }

  function combined(schema: Json, key: (typeof COMBINERS)[number], path: string, depth: number): string {
    const content = schema[key];
    if (key === '$ref') return reference(content, path, depth);
    if (key === 'const') return literal(JSON.stringify(content));
    if (!Array.isArray(content) || content.length === 0) throw refusal(`${path}/${key}`, 'it must be a list, and not empty');
    const items = content as unknown[];
    if (key === 'enum') return alternatives(items.map((item) => literal(JSON.stringify(item))));
    if (key === 'allOf' && items.length > 1) throw refusal(`${path}/allOf`, 'only one schema in `allOf` can be kept to');
    if (key === 'oneOf') checkDisjoint(items.map((item) => resolve(item)), `${path}/oneOf`);
    return alternatives(items.map((item, i) => value(item, `${path}/${key}/${i}`, depth + 1)));
  } // prettier-ignore

  function reference(pointer: unknown, path: string, depth: number): string {
    if (typeof pointer !== 'string') throw refusal(`${path}/$ref`, 'it must be a string');
    const known = referenced.get(pointer);
    if (known) return known;
    const target = follow(root, pointer, path);
    return define('ref', (name) => {
      referenced.set(pointer, name);
      return value(target, pointer, depth + 1);
    });
  }

  const resolve = (schema: unknown): unknown =>
    isJson(schema) && typeof schema.$ref === 'string' ? follow(root, schema.$ref, '') : schema;

  function typed(schema: Json, type: unknown, path: string, depth: number): string {
    switch (type) {
      case 'object': return define('object', (name) => object(schema, path, depth, name));
      case 'array': return define('array', (name) => array(schema, path, depth, name));
      case 'string': return string(schema, path);
      case 'integer': return number(schema, path, false);
      case 'number': return number(schema, path, true);
      case 'boolean': return 'boolean';
      case 'null': return '"null"';
      default: throw refusal(`${path}/type`, `${JSON.stringify(type)} is no type of JSON`);
    }
  } // prettier-ignore

  /** Properties in the order of the schema, then others. Rule i·0: nothing was written before property i; i·1: something was. */
  function object(schema: Json, path: string, depth: number, name: string): string {
    const required = namesOf(schema.required, `${path}/required`);
    const described = isJson(schema.properties) ? schema.properties : {};
    const isClosed = strict && Object.keys(described).length > 0;
    const rest = schema.additionalProperties ?? !(isClosed || schema.unevaluatedProperties === false);
    const missing = required.filter((key) => !Object.hasOwn(described, key));
    if (rest === false && missing.length > 0)
      throw refusal(`${path}/required`, `\`${missing[0]}\` is required, but other properties are forbidden`);
    const properties = [...Object.entries(described), ...missing.map((key) => [key, rest] as const)];
    const pairs = properties.map(([key, item]) => `${literal(JSON.stringify(key))} ws ":" ws ${value(item, `${path}/properties/${key}`, depth + 1)}`); // prettier-ignore
    const other = rest === false ? null : define('pair', (pair) => `"\\"" ${otherKeys(properties.map(([key]) => key), pair, rules)} ws ":" ws ${value(rest, `${path}/additionalProperties`, depth + 1)}`); // prettier-ignore
    const from = (i: number, written: 0 | 1): string => `${name}_${i}_${written}`;
    for (let i = properties.length; i >= 0; i--) {
      for (const written of [0, 1] as const) rules.set(from(i, written), step(i, written));
    }
    return `"{" ws ${from(0, 0)} ws "}"`;

    function step(i: number, written: 0 | 1): string {
      const comma = written ? 'ws "," ws ' : '';
      if (i === properties.length) {
        if (other === null) return '""';
        return written ? `(${comma}${other})*` : `(${other} (ws "," ws ${other})*)?`;
      }
      const with_ = `${comma}${pairs[i]} ${from(i + 1, 1)}`;
      return required.includes(properties[i]![0]) ? with_ : `${with_} | ${from(i + 1, written)}`;
    }
  }

  function array(schema: Json, path: string, depth: number, name: string): string {
    if (schema.uniqueItems === true) throw refusal(`${path}/uniqueItems`, '`uniqueItems` cannot be kept to');
    const prefix = Array.isArray(schema.prefixItems) ? (schema.prefixItems as unknown[]) : [];
    const items = schema.items ?? !(schema.unevaluatedItems === false);
    const min = countOf(schema.minItems, `${path}/minItems`) ?? 0;
    const most = countOf(schema.maxItems, `${path}/maxItems`);
    const max = items === false ? Math.min(prefix.length, most ?? Infinity) : (most ?? Infinity);
    if (min > max) throw refusal(path, `it cannot have ${min} items and at most ${max}`);
    const parts = prefix.map((item, i) => value(item, `${path}/prefixItems/${i}`, depth + 1));
    const item = items === false || max <= prefix.length ? null : value(items, `${path}/items`, depth + 1);
    for (let i = Math.min(prefix.length, max); i >= 0; i--) rules.set(`${name}_${i}`, behind(i));
    return `"[" ws ${name}_0 ws "]"`;

    /** What follows i items. */
    function behind(i: number): string {
      const comma = i === 0 ? '' : 'ws "," ws ';
      if (i < Math.min(prefix.length, max)) {
        const next = `(${comma}${parts[i]} ${name}_${i + 1})`;
        return i < min ? next : `${next}?`;
      }
      if (item === null) return '""';
      const [least, highest] = [Math.max(0, min - i), max - i];
      if (i > 0) return `(${comma}${item}){${least},${highest === Infinity ? '' : highest}}`;
      const more = `(ws "," ws ${item}){${Math.max(0, least - 1)},${highest === Infinity ? '' : highest - 1}}`;
      return least > 0 ? `${item} ${more}` : `(${item} ${more})?`;
    }
  }

  function string(schema: Json, path: string): string {
    const min = countOf(schema.minLength, `${path}/minLength`);
    const max = countOf(schema.maxLength, `${path}/maxLength`);
    const pattern = schema.pattern ?? (typeof schema.format === 'string' ? FORMATS[schema.format] : undefined);
    if (pattern === undefined) {
      if (min === null && max === null) return 'string';
      return `("\\"" character{${min ?? 0},${max ?? ''}} "\\"")`;
    }
    if (typeof pattern !== 'string') throw refusal(`${path}/pattern`, 'it must be a string');
    if (min !== null || max !== null || (schema.pattern !== undefined && FORMATS[schema.format as string] !== undefined))
      throw refusal(`${path}/pattern`, 'a pattern or format, and another rule for the same string, cannot both be kept to');
    try {
      return `("\\"" ${patternGrammar(pattern, 'json')} "\\"")`;
    } catch (error) {
      throw refusal(`${path}/pattern`, error instanceof Error ? error.message : String(error));
    }
  } // prettier-ignore

  rules.set('root', value(root, '', 0));
  return [...rules].map(([name, body]) => `${name} ::= ${body}`).join('\n');
}

const JSON_RULES: readonly (readonly [string, string])[] = [
  ['root', '""'], // set last
  ['character', JSON_CHARACTER],
  ['string', '"\\"" character* "\\""'],
  ['integer', '"-"? ("0" | [1-9] [0-9]{0,14})'],
  ['number', '"-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,15})? ([eE] [+-]? [0-9]{1,2})?'],
  ['boolean', '"true" | "false"'],
  ['any', 'anyobject | anyarray | string | number | boolean | "null"'],
  ['anyobject', '"{" ws (string ws ":" ws any (ws "," ws string ws ":" ws any)*)? ws "}"'],
  ['anyarray', '"[" ws (any (ws "," ws any)*)? ws "]"'],
];

function spaceRule(any: boolean, pattern: string | null): string {
  if (!any) return '""';
  if (pattern === null) return '[ \\n\\t]{0,32}'; // enough to indent; without a bound a model may go on for ever
  try {
    return patternGrammar(`^(?:${pattern})$`, 'plain');
  } catch (error) {
    throw refusal('', `whitespace_pattern: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function number(schema: Json, path: string, fractions: boolean): string {
  const bound = (key: string, fallback: number) => {
    const given = schema[key];
    if (given === undefined) return fallback;
    if (typeof given !== 'number') throw refusal(`${path}/${key}`, 'it must be a number');
    return given;
  };
  const [above, below] = [bound('exclusiveMinimum', -Infinity), bound('exclusiveMaximum', Infinity)];
  const [min, max] = [bound('minimum', -Infinity), bound('maximum', Infinity)];
  if (Math.max(min, above) === -Infinity && Math.min(max, below) === Infinity) return fractions ? 'number' : 'integer';
  const allowed = (x: number) => x >= min && x <= max && x > above && x < below;
  const low = Math.ceil(Math.max(min, above, -INTEGER_MAX));
  const high = Math.floor(Math.min(max, below, INTEGER_MAX));
  const whole = integerRange(allowed(low) ? low : low + 1, allowed(high) ? high : high - 1);
  const parts = whole === null ? [] : [whole];
  if (fractions) parts.push(...fractionsBetween(Math.max(min, above), Math.min(max, below), allowed));
  if (parts.length === 0) throw refusal(path, 'no number lies between its bounds');
  return alternatives(parts);
}

/** Digits behind the point that do not end in 0: strictly between two integers. */
const FRACTION = '"." [0-9]{0,5} [1-9]';

/** n.d lies between n and n + 1: both are within the bounds. A narrow range is written out in thousandths. */
function fractionsBetween(low: number, high: number, allowed: (x: number) => boolean): string[] {
  if (high - low <= 2) {
    const thousandths = Array.from({ length: 2_001 }, (_, i) => Math.ceil(low * 1000) + i)
      .filter((n) => n % 1000 !== 0 && allowed(n / 1000))
      .map((n) => literal(String(n / 1000)));
    return thousandths.length > 0 ? [alternatives(thousandths)] : [];
  }
  const clamp = (x: number) => Math.max(-INTEGER_MAX, Math.min(INTEGER_MAX, x));
  const [from, to] = [clamp(Math.ceil(low)), clamp(Math.floor(high))];
  const positive = integerRange(Math.max(0, from), to - 1);
  const negative = integerRange(Math.max(0, -to), -from - 1);
  return [...(positive ? [`${positive} ${FRACTION}`] : []), ...(negative ? [`"-" ${negative} ${FRACTION}`] : [])];
}

function checkKeywords(schema: Json, path: string): void {
  const ignored = NOT_ENFORCED.find((key) => schema[key] !== undefined);
  if (ignored !== undefined) throw refusal(`${path}/${ignored}`, `\`${ignored}\` cannot be kept to`);
  if (isJson(schema.propertyNames) && Object.keys(schema.propertyNames).some((key) => key !== 'type'))
    throw refusal(`${path}/propertyNames`, '`propertyNames` cannot be kept to');
  const combiners = COMBINERS.filter((key) => schema[key] !== undefined);
  if (combiners.length > 1) throw refusal(path, `${combiners.join(' and ')} together cannot be kept to`);
  const beside = Object.keys(schema).find((key) => TYPE_OF[key] !== undefined);
  const isList = combiners[0] === 'enum' || combiners[0] === 'const';
  if (combiners.length === 1 && !isList && beside !== undefined)
    throw refusal(`${path}/${beside}`, `\`${beside}\` beside \`${combiners[0]}\` cannot be kept to`);
}

function typesOf(schema: Json, path: string): readonly unknown[] {
  if (Array.isArray(schema.type)) {
    const types = schema.type as unknown[];
    return types.includes('number') ? types.filter((type) => type !== 'integer') : types;
  }
  if (schema.type !== undefined) return [schema.type];
  const implied = new Set(Object.keys(schema).flatMap((key) => TYPE_OF[key] ?? []));
  if (implied.size > 1) throw refusal(path, `it needs a \`type\`: its keywords are of ${[...implied].join(' and ')}`);
  return [...implied];
}

/** A document must match exactly one: so no document may match two. Different types, or different constants of one property. */
function checkDisjoint(schemas: readonly unknown[], path: string): void {
  const tagsOf = (schema: unknown) => {
    if (!isJson(schema) || !isJson(schema.properties)) return new Map<string, string[]>();
    const entries = namesOf(schema.required, path).flatMap((key) => {
      const property = (schema.properties as Json)[key];
      const values = !isJson(property) ? null : 'const' in property ? [property.const] : Array.isArray(property.enum) ? (property.enum as unknown[]) : null; // prettier-ignore
      return values ? [[key, values.map((each) => JSON.stringify(each))] as const] : [];
    });
    return new Map(entries);
  };
  const typeOf = (schema: unknown): unknown => {
    if (!isJson(schema)) return undefined;
    if ('const' in schema) return schema.const === null ? 'null' : Array.isArray(schema.const) ? 'array' : typeof schema.const; // prettier-ignore
    return schema.type === 'integer' ? 'number' : schema.type;
  };
  for (const [i, a] of schemas.entries()) {
    for (const b of schemas.slice(i + 1)) {
      const [typeA, typeB] = [typeOf(a), typeOf(b)];
      if (typeof typeA === 'string' && typeof typeB === 'string' && typeA !== typeB) continue;
      const tagsB = tagsOf(b);
      const told = [...tagsOf(a)].some(([key, values]) => tagsB.get(key)?.every((each) => !values.includes(each)));
      if (!told) throw refusal(path, 'two of its schemas may both match; give them different types or constants, or use `anyOf`'); // prettier-ignore
    }
  }
}

function namesOf(required: unknown, path: string): string[] {
  if (required === undefined) return [];
  if (Array.isArray(required) && required.every((name) => typeof name === 'string')) return required;
  throw refusal(path, 'it must be a list of names');
}

function countOf(given: unknown, path: string): number | null {
  if (given === undefined) return null;
  if (Number.isInteger(given) && (given as number) >= 0 && (given as number) <= COUNT_MAX) return given as number;
  throw refusal(path, `it must be an integer from 0 to ${COUNT_MAX}`);
}

/** A JSON pointer into the schema itself. */
function follow(root: unknown, pointer: string, path: string): unknown {
  if (pointer !== '#' && !pointer.startsWith('#/'))
    throw refusal(`${path}/$ref`, 'only references into the schema itself (#/…) can be followed');
  let at = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    at = isJson(at) || Array.isArray(at) ? (at as Json)[key] : undefined;
  }
  if (at !== undefined) return at;
  throw refusal(`${path}/$ref`, `there is nothing at ${pointer}`);
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

export const refusal = (path: string, reason: string): AppError =>
  new AppError(
    'invalid_constraint',
    `This JSON schema cannot be used: at ${path === '' ? 'its root' : path}, ${reason}.`,
  );
