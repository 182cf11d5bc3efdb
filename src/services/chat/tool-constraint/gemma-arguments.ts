// Arguments as FunctionGemma and Gemma 4 write them: `a:<escape>x<escape>,b:[1,2]`. Strings are enclosed in special tokens, without
// escapes; so lists and objects are spelled out here, and their contents are restricted.
import type { ToolDefinition } from '#domain/chat';
import { parameterTypes, schemaWithin, type JsonType } from '#text/tool-parser/parameter-types';
import { constant, joined, jsonValue, oneOf, regex, repeated, sequence, type Format } from './argument-formats.ts';
import {
  demandsOf, Inexpressible, parametersOf, propertiesOf, unnamed, Unwritable, type Parameter,
} from './parameters.ts'; // prettier-ignore
import { choicesOf } from './choices.ts';
import { anyText, textPattern, writableWords } from './text-values.ts';

/** Other names are enclosed like strings. */
const BARE_NAME = /^[^\s:=,(){}[\]<"']+$/;
const SCALAR = { type: ['number', 'boolean', 'null'] };

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
    const root = tool.function.parameters;
    /** The containers that enclose a value. */
    const open: string[] = [];

    function value(schema: unknown): Format {
      if (schema === undefined || schema === true) return anyValue;
      const choices = choicesOf(schema, root);
      if (choices !== null) return oneOf(choices.map(value));
      const { types, values } = parameterTypes(schema, root);
      const scalars = [...types].filter((type) => SCALAR.type.includes(type) || type === 'integer');
      return oneOf([
        ...(types.has('string') ? [string(schema, values)] : []),
        ...(types.has('object') || types.has('array') ? [container(schema, types)] : []),
        ...(scalars.length > 0 ? [jsonValue({ allOf: [schema, { type: scalars }] }, tool, isStrict)] : []),
      ]);
    }

    function string(schema: unknown, values: readonly unknown[] | null): Format {
      const words = writableWords(values, (word) => !word.includes(quote), isStrict);
      return words === null
        ? text(textPattern(schema, root, mark, isStrict))
        : oneOf(words.map((word) => constant(quote + word + quote)));
    }

    /** A list or object that contains itself is spelled out twice, and then empty. */
    function container(schema: unknown, types: ReadonlySet<JsonType>): Format {
      const key = JSON.stringify(schema);
      const times = open.filter((each) => each === key).length;
      const isAgain = times > 1;
      if (times > 0 && isStrict) throw new Inexpressible('a value that contains itself is not supported');
      open.push(key);
      const formats: Format[] = [];
      if (types.has('object'))
        formats.push(sequence(constant('{'), isAgain ? constant('') : pairs(schema), constant('}')));
      if (types.has('array'))
        formats.push(sequence(constant('['), isAgain ? constant('') : items(schema), constant(']')));
      open.pop();
      return oneOf(formats);
    }

    function pairs(schema: unknown): Format {
      try {
        const properties = propertiesOf(schema, root, isStrict);
        const rest = unnamed(schema, root);
        return rest === false ? joined(properties, ',', pair(value)) : unnamedPairs(value(rest));
      } catch (error) {
        if (isStrict || !(error instanceof Inexpressible) || error instanceof Unwritable) throw error;
        return any;
      }
    }

    function items(schema: unknown): Format {
      const beyond = isStrict
        ? demandsOf(schema as Readonly<Record<string, unknown>>).find((key) => key !== 'type' && key !== 'items')
        : undefined;
      if (beyond !== undefined) throw new Inexpressible(`\`${beyond}\` is not supported for arrays`);
      return repeated(value(schemaWithin(schema, null, root)), ',');
    }

    const rest = unnamed(root, root);
    return rest === false ? joined(parametersOf(tool, isStrict), ',', pair(value)) : unnamedPairs(value(rest));
  }

  const unnamedPairs = (each: Format) => repeated(sequence(regex('[A-Za-z0-9_.-]+:'), each), ',');
  const anyValue = oneOf([text(anyText(mark)), { type: 'json_schema', json_schema: SCALAR }]);
  const any = unnamedPairs(anyValue);
  return { any, write };
}
