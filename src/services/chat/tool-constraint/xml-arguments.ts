// Arguments as Qwen3-Coder writes them: a tag for each parameter, values as bare text. Strings follow their length and enum; everything
// else is JSON. parameter-types.ts decides what is a string, for the parser too.
import { isObject } from '#base/is-object';
import type { ToolDefinition } from '#domain/chat';
import { parameterTypes } from '#text/tool-parser/parameter-types';
import {
  constant,
  Inexpressible,
  jsonValue,
  oneOf,
  optional,
  parametersOf,
  regex,
  repeated,
  sequence,
  Unwritable,
  type Format,
  type Parameter,
} from './argument-formats.ts';
import { anyText, textPattern } from './text-values.ts';

/** What ends a value. */
const TAGS = '</parameter>|<parameter=|</function>|</tool_call>';
const NAME = /^[^\s<>](?:[^<>\r\n\t]*[^\s<>])?$/;

/** Any arguments. */
export const ANY_XML: Format = repeated(
  sequence(
    constant('<parameter='),
    regex('[^\\s<>](?:[^<>\\r\\n\\t]*[^\\s<>])?'),
    constant('>\n'),
    regex(anyText(TAGS)),
    constant('\n</parameter>\n'),
  ),
  '',
);

/** Throws Inexpressible. */
export function xmlArguments(tool: ToolDefinition, isStrict: boolean): Format {
  const parameters = parametersOf(tool).map((each) => {
    const format = argument(each, tool, isStrict);
    return each.required ? format : optional(format);
  });
  return parameters.length === 0 ? constant('') : sequence(...parameters);
}

function argument({ name, schema }: Parameter, tool: ToolDefinition, isStrict: boolean): Format {
  if (!NAME.test(name)) throw new Unwritable(`the name ${JSON.stringify(name)} is not supported`);
  return sequence(constant(`<parameter=${name}>\n`), value(schema, tool, isStrict), constant('\n</parameter>\n'));
}

function value(schema: unknown, tool: ToolDefinition, isStrict: boolean): Format {
  const { types, values } = parameterTypes(schema, tool.function.parameters);
  if (!types.has('string')) return jsonValue(schema, tool, isStrict);
  const text = strings(isObject(schema) ? schema : {}, values, isStrict);
  const others = [...types].filter((type) => type !== 'string');
  if (others.length === 0) return text;
  return oneOf([text, jsonValue({ allOf: [schema, { type: others }] }, tool, isStrict)]);
}

function strings(schema: Record<string, unknown>, values: readonly unknown[] | null, isStrict: boolean): Format {
  const texts = values?.filter((word): word is string => typeof word === 'string');
  if (texts?.length === 0) throw new Inexpressible('no value is allowed');
  const wrong = texts?.find((word) => new RegExp(TAGS).test(word));
  if (wrong !== undefined) throw new Inexpressible(`${JSON.stringify(wrong)} contains a tag of the syntax`);
  if (texts) return oneOf(texts.map(constant));
  return regex(textPattern(schema, TAGS, isStrict));
}
