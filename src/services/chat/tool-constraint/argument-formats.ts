// Arguments of a call in syntaxes that do not write them as one JSON object: formats of structural tags that follow the tool's parameters,
// one after the other as declared, required ones first. What a syntax cannot express is reported with the reason.
import { isObject } from '#base/is-object';
import type { ToolDefinition } from '#domain/chat';

export type Format = object;

export interface Parameter {
  readonly name: string;
  readonly schema: unknown;
  readonly required: boolean;
}

/** Why a syntax cannot express some parameters; it ends the sentence "… cannot be enforced in the tool-call syntax …: ". */
export class Inexpressible extends Error {}

/** The syntax has no way to write a name: no call of the tool would be read back, so it is refused, strict or not. */
export class Unwritable extends Inexpressible {}

export const constant = (value: string): Format => ({ type: 'const_string', value });
export const oneOf = (elements: readonly Format[]): Format =>
  elements.length === 1 ? elements[0]! : { type: 'or', elements };
export const sequence = (...elements: readonly Format[]): Format => ({ type: 'sequence', elements });
export const optional = (format: Format): Format => ({ type: 'or', elements: [format, constant('')] });
export const regex = (pattern: string): Format => ({ type: 'regex', pattern });
export const repeated = (format: Format, separator: string): Format => ({
  type: 'tags_with_separator',
  tags: [{ begin: '', content: format, end: '' }],
  separator,
  at_least_one: false,
});

const KNOWN = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  '$defs',
  'definitions',
  '$schema',
  '$id',
  'title',
  'description',
]);

/** Required ones first. Throws Inexpressible. */
export function parametersOf({ function: { parameters } }: ToolDefinition): Parameter[] {
  if (parameters === undefined || parameters === null) return [];
  if (!isObject(parameters)) throw new Inexpressible('parameters must be an object schema');
  return propertiesOf(parameters);
}

export function propertiesOf(schema: Record<string, unknown>): Parameter[] {
  const unknown = Object.keys(schema).find((key) => !KNOWN.has(key));
  if (unknown !== undefined) throw new Inexpressible(`\`${unknown}\` beside properties is not supported`);
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : [];
  const missing = required.find((name) => typeof name !== 'string' || !Object.hasOwn(properties, name));
  if (missing !== undefined) throw new Inexpressible(`the required property ${JSON.stringify(missing)} has no schema`);
  const all = Object.entries(properties).map(([name, each]) => ({
    name,
    schema: each,
    required: required.includes(name),
  }));
  return [...all.filter((each) => each.required), ...all.filter((each) => !each.required)];
}

const DEFINITIONS = ['$defs', 'definitions'];

/** A value as JSON, with the definitions that its schema may refer to. `isStrict`: throws if the schema cannot be followed. */
export function jsonValue(schema: unknown, tool: ToolDefinition, isStrict: boolean): Format {
  const { parameters } = tool.function;
  const definitions = DEFINITIONS.filter((key) => isObject(parameters) && key in parameters).map(
    (key) => [key, (parameters as Record<string, unknown>)[key]] as const,
  );
  const whole = isObject(schema) ? { ...Object.fromEntries(definitions), ...schema } : schema;
  return { type: 'json_schema', json_schema: whole, ...(isStrict ? {} : { otherwise: {} }) };
}

/** Applies `write` to each parameter and joins all in order, with separators between those that are present. */
export function joined(
  parameters: readonly Parameter[],
  separator: string,
  write: (parameter: Parameter) => Format,
): Format {
  if (parameters.length === 0) return constant('');
  const behind = (rest: readonly Parameter[]): Format[] =>
    rest.map((each) => {
      const format = sequence(constant(separator), write(each));
      return each.required ? format : optional(format);
    });
  const beginningWith = (index: number): Format =>
    sequence(write(parameters[index]!), ...behind(parameters.slice(index + 1)));
  if (parameters[0]!.required) return beginningWith(0);
  return oneOf([...parameters.keys()].map(beginningWith).concat(constant('')));
}
