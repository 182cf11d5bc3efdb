// Why a line cannot be read, for people: the first errors of its validation, in the words of who wrote the file. Clients of the API read
// pydantic's (validation/parse.ts).
import { ValidationError } from '#validation/parse';

const PROBLEMS_MAX = 3;

/** Describes the first errors of an unreadable line. Rethrows anything that is not a ValidationError. */
export function problemOf(error: unknown): string {
  if (!(error instanceof ValidationError)) throw error;
  return error.items.slice(0, PROBLEMS_MAX).map(describe).join('; ');
}

/** By pydantic's type. */
const WORDS: Readonly<Record<string, string>> = {
  missing: 'is missing',
  string_type: 'must be a text',
  list_type: 'must be a list',
  dict_type: 'must be an object',
  model_attributes_type: 'must be an object',
  string_unicode: 'has half of a character (a lone \\uD800 to \\uDFFF), which no token stands for',
};

function describe({ type, loc, msg, ctx }: ValidationError['items'][number]): string {
  if (type === 'json_invalid') return `is not JSON: ${String(ctx?.['error'])} at character ${loc[1]}`;
  const words =
    WORDS[type] ??
    msg
      .replace(/^Value error, /, '')
      .replace(/^List should have at least 1 item$/, 'must not be empty')
      .replace(/^List should have at most (\d+) items$/, 'must have at most $1 entries');
  return loc.length > 1 ? `${loc.slice(1).join('.')}: ${words}` : words;
}
