// Arguments of a call in syntaxes that do not write them as one JSON object: formats of structural tags that follow the tool's parameters,
// one after the other as declared, required ones first. What a syntax cannot express is reported with the reason.
import { isObject } from '#base/is-object';
import type { ToolDefinition } from '#domain/chat';
import type { Parameter } from './parameters.ts';

export type Format = object;

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

/** A value as JSON; its references are followed in the tool's parameters. `isStrict`: throws if the schema cannot be followed. */
export function jsonValue(schema: unknown, tool: ToolDefinition, isStrict: boolean): Format {
  const whole = mayRefer(schema) ? within(tool.function.parameters, schema) : schema;
  return { type: 'json_schema', json_schema: whole, ...(isStrict ? {} : { otherwise: {} }) };
}

const mayRefer = (schema: unknown): boolean =>
  isObject(schema) && /"\$(?:ref|dynamicRef)"/.test(JSON.stringify(schema));

/** The schema as one of the definitions of `parameters`. */
function within(parameters: unknown, schema: unknown): object {
  const document: Record<string, unknown> = isObject(parameters) ? parameters : {};
  const id = typeof document.$id === 'string' ? document.$id : 'tool:parameters';
  const definitions = { ...(isObject(document.$defs) ? document.$defs : {}), [VALUE]: schema };
  return { $ref: `${id}#/$defs/${VALUE}`, $defs: { tool: { ...document, $id: id, $defs: definitions } } };
}

const VALUE = 'value-to-write';

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
