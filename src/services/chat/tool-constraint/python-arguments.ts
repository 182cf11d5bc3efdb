// Arguments as Python keywords, `a=1, b="x"`. Values are written as JSON, which the parser of calls accepts too.
import type { ToolDefinition } from '#domain/chat';
import { constant, joined, jsonValue, regex, repeated, sequence, type Format } from './argument-formats.ts';
import { parametersOf, unnamed, Unwritable } from './parameters.ts';

/** Python reads other forms of the same letters as these. */
const isIdentifier = (name: string): boolean =>
  /^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(name) && name === name.normalize('NFKC');

const unnamedArguments = (value: Format): Format =>
  repeated(sequence(regex('(?:[A-Za-z_]|[^\\x00-\\x7f])(?:[A-Za-z0-9_]|[^\\x00-\\x7f])*='), value), ', ');

/** Any arguments. */
export const ANY_PYTHON: Format = unnamedArguments({ type: 'json_schema', json_schema: {} });

/** Throws Inexpressible. */
export function pythonArguments(tool: ToolDefinition, isStrict: boolean): Format {
  const rest = unnamed(tool.function.parameters, tool.function.parameters);
  if (rest !== false) return unnamedArguments(jsonValue(rest, tool, isStrict));
  return joined(parametersOf(tool, isStrict), ', ', ({ name, schema }) => {
    if (!isIdentifier(name)) throw new Unwritable(`the name ${JSON.stringify(name)} is not an identifier`);
    return sequence(constant(`${name}=`), jsonValue(schema, tool, isStrict));
  });
}
