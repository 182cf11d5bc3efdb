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

/** What is enforced of each format. Other fields of XGrammar's may only say what holds anyway. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  const_string: ['value'],
  any_text: ['excludes'],
  json_schema: ['json_schema', 'otherwise', 'any_order'],
  regex: ['pattern'],
  grammar: ['grammar'],
  sequence: ['elements'],
  or: ['elements'],
  optional: ['content'],
  star: ['content'],
  plus: ['content'],
  repeat: ['content', 'min', 'max'],
  tag: ['begin', 'content', 'end'],
  triggered_tags: ['triggers', 'tags', 'at_least_one', 'stop_after_first', 'excludes'],
  tags_with_separator: ['tags', 'separator', 'at_least_one', 'stop_after_first'],
};

const saysNothing = (key: string, value: unknown): boolean =>
  value === null ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (key === 'style' && value === 'json');

function refuseOthers(type: string, part: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(part))
    if (key !== 'type' && !FIELDS[type]!.includes(key) && !saysNothing(key, value))
      throw new Error(`\`${key}\` of a ${type} is not supported`);
}

/** Throws Error with the reason. */
export function tagForm(terms: Terms, tag: unknown, contents: Contents): Form {
  const any = anyText(terms, 'plain');
  const word = (text: string): Form => ({ kind: 'term', term: terms.word(text) });
  const choiceOf = (options: readonly Form[]): Form =>
    options.length === 1 ? options[0]! : { kind: 'choice', options };

  /** Any text that contains none of these. */
  const without = (texts: readonly string[]): Term =>
    texts.length === 0 ? any : terms.and([any, terms.not(terms.concat([any, terms.words(texts), any]))]);

  function format(part: unknown, depth: number, end: readonly string[] = []): Form {
    if (depth > DEPTH_MAX) throw new Error(`the tag is nested more than ${DEPTH_MAX} deep`);
    if (!isObject(part)) throw new Error('a format must be an object with a `type`');
    const inside = (each: unknown) => format(each, depth + 1);
    if (typeof part.type === 'string' && Object.hasOwn(FIELDS, part.type)) refuseOthers(part.type, part);
    switch (part.type) {
      case 'const_string':
        return word(stringOf(part, 'value'));
      case 'any_text':
        return { kind: 'term', term: without([...end, ...textsOf(part, 'excludes')]) };
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
      case 'optional':
        return { kind: 'repeat', of: inside(part.content), min: 0, max: 1 };
      case 'star':
        return { kind: 'repeat', of: inside(part.content), min: 0, max: Infinity };
      case 'plus':
        return { kind: 'repeat', of: inside(part.content), min: 1, max: Infinity };
      case 'repeat':
        return { kind: 'repeat', of: inside(part.content), ...timesOf(part) };
      case 'tag':
        return tagOf(part, depth);
      case 'triggered_tags':
        return triggered(part, depth);
      case 'tags_with_separator':
        return separated(part, depth);
      default:
        throw new Error(`\`${String(part.type)}\` is not a format of structural tags here`);
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
    refuseOthers('tag', part);
    const begin = stringOf(part, 'begin').slice(behind);
    const ends = Array.isArray(part.end) ? textsOf(part, 'end') : [stringOf(part, 'end')];
    if (ends.length === 0) throw new Error('`end` of a tag must not be an empty list');
    const content = format(
      part.content,
      depth + 1,
      ends.filter((text) => text !== ''),
    );
    return { kind: 'sequence', parts: [word(begin), content, choiceOf(ends.map(word))] };
  }

  function triggered(part: Record<string, unknown>, depth: number): Form {
    const triggers = textsOf(part, 'triggers');
    if (triggers.length === 0) throw new Error('`triggers` of a triggered_tags must not be an empty list');
    const excluded = textsOf(part, 'excludes');
    const tags = listOf(part, 'tags');
    const anyTrigger = terms.words(triggers);
    const some = terms.and([any, terms.not(terms.empty)]);
    const earlier = terms.not(terms.concat([any, anyTrigger, some]));
    const calls = triggers.flatMap((trigger): Form[] => {
      const own = tags.filter((each) => isObject(each) && String(each.begin).startsWith(trigger));
      if (own.length === 0) return [];
      const text = terms.and([terms.concat([without(excluded), terms.word(trigger)]), earlier]);
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
    const text: Form = { kind: 'term', term: without([...triggers, ...excluded]) };
    const more: Form[] = [{ kind: 'repeat', of: call, min: 0, max: Infinity }, text];
    const isOne = part.stop_after_first === true;
    if (part.at_least_one !== true) return isOne ? choiceOf([call, text]) : { kind: 'sequence', parts: more };
    // As in XGrammar, the first tag then begins the text.
    const first = choiceOf(tags.map((each) => tagOf(each, depth + 1)));
    return isOne ? first : { kind: 'sequence', parts: [first, ...more] };
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

/** A maximum of -1: none. */
function timesOf({ min, max }: Record<string, unknown>): { min: number; max: number } {
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  const most = max === -1 ? Infinity : max;
  if (isCount(min) && (most === Infinity || isCount(most)) && min <= most) return { min, max: most };
  throw new Error('`min` and `max` of a repeat must be whole numbers, the first not greater; -1 is no maximum');
}

/** Texts that are not empty strings, but for the end of a tag; none, if the field is missing. */
function textsOf(part: Record<string, unknown>, key: 'end' | 'triggers' | 'excludes'): readonly string[] {
  const texts = part[key] ?? [];
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string' && (text !== '' || key === 'end')))
    return texts as string[];
  throw new Error(`\`${key}\` must be a list of texts`);
}

function listOf(part: Record<string, unknown>, key: string): readonly unknown[] {
  if (Array.isArray(part[key]) && part[key].length > 0) return part[key] as unknown[];
  throw new Error(`\`${key}\` of a ${String(part.type)} must be a list that is not empty`);
}
