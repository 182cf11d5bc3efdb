// Arguments as Python keywords, `a=1, b="x"`. Values are written as JSON, which the parser of calls accepts too.
import type { ToolDefinition } from '#domain/chat';
import {
  constant,
  Inexpressible,
  joined,
  jsonValue,
  parametersOf,
  regex,
  repeated,
  sequence,
  type Format,
} from './argument-formats.ts';

const IDENTIFIER = /^[A-Za-z_]\w*$/;

/** Any arguments. */
export const ANY_PYTHON: Format = repeated(
  sequence(regex('[A-Za-z_][A-Za-z0-9_]*='), { type: 'json_schema', json_schema: {} }),
  ', ',
);

/** Throws Inexpressible. */
export function pythonArguments(tool: ToolDefinition, isStrict: boolean): Format {
  return joined(parametersOf(tool), ', ', ({ name, schema }) => {
    if (!IDENTIFIER.test(name)) throw new Inexpressible(`the name ${JSON.stringify(name)} is not an identifier`);
    return sequence(constant(`${name}=`), jsonValue(schema, tool, isStrict));
  });
}
