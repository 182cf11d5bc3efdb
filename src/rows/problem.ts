// Why a line cannot be read, for people: the first errors of its validation.
import { ValidationError } from '#validation/parse';

const PROBLEMS_MAX = 3;

/** Describes the first errors of an unreadable line. Rethrows anything that is not a ValidationError. */
export function problemOf(error: unknown): string {
  if (!(error instanceof ValidationError)) throw error;
  return error.items.slice(0, PROBLEMS_MAX).map(describe).join('; ');
}

function describe({ type, loc, msg, ctx }: ValidationError['items'][number]): string {
  if (type === 'json_invalid') return `is not JSON: ${String(ctx?.['error'])} at character ${loc[1]}`;
  return loc.length > 1 ? `${loc.slice(1).join('.')}: ${msg}` : msg;
}
