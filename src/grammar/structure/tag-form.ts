// Converts structural tags into a form: free text in which certain strings open parts that must satisfy a schema, and sequences
// and alternatives of such parts. Accepts the formats of structural tags that vLLM and other servers accept.
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import { anyText } from '../lexemes/characters.ts';
import type { Term, Terms } from '../lexemes/terms.ts';
import type { Form } from './forms.ts';

/** Converts the contents of tags. */
export interface Contents {
  readonly schema: (schema: unknown) => Form;
  readonly regex: (pattern: string) => Form;
  readonly grammar: (source: string) => Form;
}

const DEPTH_MAX = 64; // deeper tags are made to break parsers

/** Throws Error with the reason. */
export function tagForm(terms: Terms, tag: unknown, contents: Contents): Form {
  const any = anyText(terms, 'plain');
  const word = (text: string): Form => ({ kind: 'term', term: terms.word(text) });
  const choiceOf = (options: readonly Form[]): Form =>
    options.length === 1 ? options[0]! : { kind: 'choice', options };

  /** Any text that contains none of these. */
  const without = (texts: readonly string[]): Term =>
    terms.and([any, terms.not(terms.concat([any, terms.words(texts), any]))]);

  function format(part: unknown, depth: number, end: readonly string[] = []): Form {
    if (depth > DEPTH_MAX) throw new Error(`the tag is nested more than ${DEPTH_MAX} deep`);
    if (!isObject(part)) throw new Error('a format must be an object with a `type`');
    const inside = (each: unknown) => format(each, depth + 1);
    switch (part.type) {
      case 'const_string':
        return word(stringOf(part, 'value'));
      case 'any_text':
        return { kind: 'term', term: end.length > 0 ? without(end) : any };
      case 'json_schema':
        return schemaOrOther(part);
      case 'regex':
        return contents.regex(stringOf(part, 'pattern'));
      case 'grammar':
        return contents.grammar(stringOf(part, 'grammar'));
      case 'sequence':
        return { kind: 'sequence', parts: listOf(part, 'elements').map(inside) };
      case 'or':
        return choiceOf(listOf(part, 'elements').map(inside));
      case 'tag':
        return tagOf(part, depth);
      case 'triggered_tags':
        return triggered(part, depth);
      case 'tags_with_separator':
        return separated(part, depth);
      default:
        throw new Error(`\`${String(part.type)}\` is not a format of structural tags`);
    }
  }

  /** `otherwise`: used if the schema cannot be enforced. */
  function schemaOrOther({ json_schema: schema, otherwise }: { json_schema?: unknown; otherwise?: unknown }): Form {
    if (schema === undefined) throw new Error('a format of type `json_schema` needs `json_schema`');
    try {
      return contents.schema(schema);
    } catch (error) {
      if (otherwise === undefined || !(error instanceof AppError)) throw error;
      return contents.schema(otherwise);
    }
  }

  /** `behind`: how many characters of the tag's `begin` are already written. */
  function tagOf(part: unknown, depth: number, behind = 0): Form {
    if (!isObject(part)) throw new Error('a tag must be an object with `begin`, `content` and `end`');
    const begin = stringOf(part, 'begin').slice(behind);
    const ends = Array.isArray(part.end) ? (part.end as string[]) : [stringOf(part, 'end')];
    const content = format(
      part.content,
      depth + 1,
      ends.filter((text) => text !== ''),
    );
    return { kind: 'sequence', parts: [word(begin), content, choiceOf(ends.map(word))] };
  }

  function triggered(part: Record<string, unknown>, depth: number): Form {
    const triggers = listOf(part, 'triggers').map(String);
    const tags = listOf(part, 'tags');
    const anyTrigger = terms.words(triggers);
    const some = terms.and([any, terms.not(terms.empty)]);
    const earlier = terms.not(terms.concat([any, anyTrigger, some]));
    const calls = triggers.flatMap((trigger): Form[] => {
      const own = tags.filter((each) => isObject(each) && String(each.begin).startsWith(trigger));
      if (own.length === 0) return [];
      const text = terms.and([terms.concat([any, terms.word(trigger)]), earlier]);
      return [
        {
          kind: 'sequence',
          parts: [{ kind: 'term', term: text }, choiceOf(own.map((each) => tagOf(each, depth + 1, trigger.length)))],
        },
      ];
    });
    const stray = tags.find(
      (each) => !isObject(each) || !triggers.some((trigger) => String(each.begin).startsWith(trigger)),
    );
    if (stray !== undefined) throw new Error('the `begin` of each tag must start with one of the triggers');
    const call = choiceOf(calls);
    const text: Form = { kind: 'term', term: without(triggers) };
    const min = part.at_least_one === true ? 1 : 0;
    if (part.stop_after_first === true) return min === 1 ? call : choiceOf([call, text]);
    return { kind: 'sequence', parts: [{ kind: 'repeat', of: call, min, max: Infinity }, text] };
  }

  function separated(part: Record<string, unknown>, depth: number): Form {
    const call = choiceOf(listOf(part, 'tags').map((each) => tagOf(each, depth + 1)));
    const separator = word(stringOf(part, 'separator'));
    const more: Form = { kind: 'repeat', of: { kind: 'sequence', parts: [separator, call] }, min: 0, max: Infinity };
    const calls: Form = part.stop_after_first === true ? call : { kind: 'sequence', parts: [call, more] };
    return part.at_least_one === true ? calls : choiceOf([calls, { kind: 'term', term: terms.empty }]);
  }

  if (!isObject(tag)) throw new Error('it must be an object with a `format`');
  return format(tag.format, 0);
}

function stringOf(part: Record<string, unknown>, key: string): string {
  if (typeof part[key] === 'string') return part[key];
  throw new Error(`\`${key}\` of a ${typeof part.type === 'string' ? part.type : 'tag'} must be a string`);
}

function listOf(part: Record<string, unknown>, key: string): readonly unknown[] {
  if (Array.isArray(part[key]) && part[key].length > 0) return part[key] as unknown[];
  throw new Error(`\`${key}\` of a ${String(part.type)} must be a list that is not empty`);
}
