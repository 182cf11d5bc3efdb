// Arguments as Python keywords, `a=1, b="x"`. Values are written as JSON, which the parser of calls accepts too.
import type { ToolDefinition } from '#domain/chat';
import {
  constant,
  joined,
  jsonValue,
  parametersOf,
  regex,
  repeated,
  sequence,
  Unwritable,
  type Format,
} from './argument-formats.ts';

/** Python reads other forms of the same letters as these. */
const isIdentifier = (name: string): boolean =>
  /^[\p{XID_Start}_]\p{XID_Continue}*$/u.test(name) && name === name.normalize('NFKC');

/** Any arguments. */
export const ANY_PYTHON: Format = repeated(
  sequence(regex('(?:[A-Za-z_]|[^\\x00-\\x7f])(?:[A-Za-z0-9_]|[^\\x00-\\x7f])*='), {
    type: 'json_schema',
    json_schema: {},
  }),
  ', ',
);

/** Throws Inexpressible. */
export function pythonArguments(tool: ToolDefinition, isStrict: boolean): Format {
  return joined(parametersOf(tool), ', ', ({ name, schema }) => {
    if (!isIdentifier(name)) throw new Unwritable(`the name ${JSON.stringify(name)} is not an identifier`);
    return sequence(constant(`${name}=`), jsonValue(schema, tool, isStrict));
  });
}
