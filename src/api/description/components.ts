// What stands once in the OpenAPI document, under `components`, and is referred to wherever it is used: zod schemas with
// `.meta({ title })`, so that a generated client has a type of that name, and parameters. Knows no endpoint.
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '#base/is-object';

type Json = Readonly<Record<string, unknown>>;

/** Keywords of JSON Schema that hold schemas, besides `properties`. */
export const SUBSCHEMAS = ['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'] as const;

/** Other titles are words for readers. */
const NAME = /^[A-Z][A-Za-z0-9]*$/;

/** What is said of a use of a schema, and not of the schema. */
const OF_USES = ['description', 'default'] as const;

export interface Components {
  readonly schemas: Readonly<Record<string, unknown>>;
  /** Throws if two schemas that differ have the same name. */
  refer(schema: unknown): unknown;
}

export function createComponents(given: Readonly<Record<string, unknown>>): Components {
  const schemas: Record<string, unknown> = { ...given };

  function refer(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(refer);
    if (!isObject(schema)) return schema;
    const { title, ...rest } = referInside(schema);
    if (typeof title !== 'string' || !NAME.test(title)) return title === undefined ? rest : { title, ...rest };
    const uses = Object.fromEntries(OF_USES.filter((key) => key in rest).map((key) => [key, rest[key]]));
    const named = Object.fromEntries(Object.entries(rest).filter(([key]) => !(key in uses)));
    if (title in schemas && !isDeepStrictEqual(schemas[title], named))
      throw new Error(`Two schemas that differ have the title ${title}.`);
    schemas[title] = named;
    return { $ref: `#/components/schemas/${title}`, ...uses };
  }

  function referInside(schema: Json): Json {
    const inside = SUBSCHEMAS.filter((key) => key in schema).map((key) => [key, refer(schema[key])] as const);
    const fields = schema['properties'];
    return {
      ...schema,
      ...Object.fromEntries(inside),
      ...(isObject(fields)
        ? { properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, refer(field)])) }
        : {}),
    };
  }

  return { schemas, refer };
}

interface Named {
  readonly name: string;
}

export interface SharedParameters<P> {
  readonly shared: Readonly<Record<string, P>>;
  refer(parameter: P): P | { readonly $ref: string };
}

/** Parameters that several operations have stand once too. `used`: by the tag of each operation. */
export function shareParameters<P extends Named>(
  used: readonly (readonly [tag: string, parameters: readonly P[]])[],
): SharedParameters<P> {
  const counts = new Map<string, { readonly tag: string; readonly parameter: P; count: number }>();
  for (const [tag, parameters] of used)
    for (const parameter of parameters) {
      const known = counts.get(JSON.stringify(parameter));
      if (known) known.count++;
      else counts.set(JSON.stringify(parameter), { tag, parameter, count: 1 });
    }
  const shared: Record<string, P> = {};
  const names = new Map<string, string>();
  for (const [text, { tag, parameter, count }] of counts) {
    if (count === 1) continue;
    const free = [parameter.name, `${tag.replaceAll(/\W/g, '')}.${parameter.name}`].find((name) => !(name in shared));
    if (free === undefined) continue; // a third meaning of a name within a tag is written where it is used
    shared[free] = parameter;
    names.set(text, free);
  }
  return {
    shared,
    refer(parameter) {
      const name = names.get(JSON.stringify(parameter));
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` };
    },
  };
}
