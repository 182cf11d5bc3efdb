// Arguments as Qwen3-Coder and Seed write them: a tag for each parameter, values as bare text. Strings follow their length and enum; everything
// else is JSON. parameter-types.ts decides what is a string, for the parser too.
import type { ToolDefinition } from '#domain/chat';
import { parameterTypes } from '#text/tool-parser/parameter-types';
import { constant, jsonValue, oneOf, optional, regex, repeated, sequence, type Format } from './argument-formats.ts';
import { parametersOf, unnamed, Unwritable, type Parameter } from './parameters.ts';
import { anyText, textPattern, writableWords } from './text-values.ts';

/** What ends a value. */
const TAGS = '</parameter>|<parameter=|</function>|</(?:seed:)?tool_call>';
const NAME = /^[^\s<>](?:[^<>\r\n\t]*[^\s<>])?$/;

const unnamedArguments = (value: Format): Format =>
  repeated(
    sequence(
      constant('<parameter='),
      regex('[^\\s<>](?:[^<>\\r\\n\\t]*[^\\s<>])?'),
      constant('>\n'),
      value,
      constant('\n</parameter>\n'),
    ),
    '',
  );

/** Any arguments. */
export const ANY_XML: Format = unnamedArguments(regex(anyText(TAGS)));

/** Throws Inexpressible. */
export function xmlArguments(tool: ToolDefinition, isStrict: boolean): Format {
  const rest = unnamed(tool.function.parameters, tool.function.parameters);
  if (rest !== false) return unnamedArguments(value(rest, tool, isStrict));
  const parameters = parametersOf(tool, isStrict).map((each) => {
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
  const text = strings(schema, tool.function.parameters, values, isStrict);
  const others = [...types].filter((type) => type !== 'string');
  if (others.length === 0) return text;
  return oneOf([text, jsonValue({ allOf: [schema, { type: others }] }, tool, isStrict)]);
}

function strings(schema: unknown, root: unknown, values: readonly unknown[] | null, isStrict: boolean): Format {
  const words = writableWords(values, (word) => !new RegExp(TAGS).test(word), isStrict);
  return words === null ? regex(textPattern(schema, root, TAGS, isStrict)) : oneOf(words.map(constant));
}
