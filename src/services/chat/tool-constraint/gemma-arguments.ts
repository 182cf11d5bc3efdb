// Arguments as FunctionGemma and Gemma 4 write them: `a:<escape>x<escape>,b:[1,2]`. Strings are enclosed in special tokens, without
// escapes; so lists and objects are spelled out here, and their contents are restricted.
import { isObject } from '#base/is-object';
import type { ToolDefinition } from '#domain/chat';
import { parameterTypes } from '#text/tool-parser/parameter-types';
import {
  constant,
  Inexpressible,
  joined,
  jsonValue,
  oneOf,
  parametersOf,
  propertiesOf,
  regex,
  repeated,
  sequence,
  Unwritable,
  type Format,
  type Parameter,
} from './argument-formats.ts';
import { anyText, textPattern } from './text-values.ts';

/** Other names are enclosed like strings. */
const BARE_NAME = /^[^\s:=,(){}[\]<"']+$/;
const SCALAR = { type: ['number', 'boolean', 'null'] };
/** For lists: the schema keywords that can be enforced. */
const LIST_KEYS = new Set(['type', 'items', 'title', 'description']);

export interface GemmaArguments {
  /** Any arguments made of strings, numbers and names. */
  readonly any: Format;
  /** Throws Inexpressible. */
  write(tool: ToolDefinition, isStrict: boolean): Format;
}

/** `quote`: encloses strings. */
export function gemmaArguments(quote: string): GemmaArguments {
  const mark = quote.replaceAll('|', '\\|');
  const text = (pattern: string) => sequence(constant(quote), regex(pattern), constant(quote));
  const pair =
    (write: (schema: unknown) => Format) =>
    ({ name, schema }: Parameter): Format => {
      if (name.includes(quote))
        throw new Unwritable(`the name ${JSON.stringify(name)} contains the delimiter of strings`);
      return sequence(constant(BARE_NAME.test(name) ? `${name}:` : `${quote}${name}${quote}:`), write(schema));
    };

  function write(tool: ToolDefinition, isStrict: boolean): Format {
    function value(schema: unknown): Format {
      if (!isObject(schema)) return oneOf([text(anyText(mark)), jsonValue(SCALAR, tool, isStrict)]);
      const { types, values } = parameterTypes(schema, tool.function.parameters);
      const scalars = [...types].filter((type) => SCALAR.type.includes(type) || type === 'integer');
      const formats = [
        ...(types.has('string') ? [string(schema, values)] : []),
        ...(types.has('object') || types.has('array') ? [container(schema)] : []),
        ...(scalars.length > 0 ? [scalarValue(schema, scalars)] : []),
      ];
      return oneOf(formats);
    }

    /** As JSON, which Gemma's scalars are. */
    const scalarValue = (schema: Record<string, unknown>, types: readonly string[]): Format =>
      jsonValue({ allOf: [schema, { type: types }] }, tool, isStrict);

    function string(schema: Record<string, unknown>, words: readonly unknown[] | null): Format {
      if (words === null) return text(textPattern(schema, mark, isStrict));
      const texts = words.filter((word): word is string => typeof word === 'string');
      if (texts.length === 0) throw new Inexpressible('no value is allowed');
      if (texts.some((word) => word.includes(quote)))
        throw new Inexpressible('an enum value contains the delimiter of strings');
      return oneOf(texts.map((word) => constant(quote + word + quote)));
    }

    function container(schema: Record<string, unknown>): Format {
      if (schema.type === 'object') {
        const pairs = joined(propertiesOf(schema), ',', pair(value));
        return sequence(constant('{'), pairs, constant('}'));
      }
      const beyond = Object.keys(schema).find((key) => !LIST_KEYS.has(key));
      if (schema.type !== 'array') throw new Inexpressible('a value has no `type` that this syntax can write');
      if (beyond !== undefined && isStrict) throw new Inexpressible(`\`${beyond}\` is not supported for arrays`);
      return sequence(constant('['), repeated(value(schema.items), ','), constant(']'));
    }

    return joined(parametersOf(tool), ',', pair(value));
  }

  const scalar: Format = { type: 'json_schema', json_schema: SCALAR };
  const anyValue = oneOf([text(anyText(mark)), scalar]);
  return { any: repeated(sequence(regex('[A-Za-z0-9_.-]+:'), anyValue), ','), write };
}
