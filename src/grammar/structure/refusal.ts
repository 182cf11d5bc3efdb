// How a schema is refused: with the location of the keyword that cannot be enforced. Also small readers of keyword values.
import { AppError } from '#domain/errors';

export type Json = Readonly<Record<string, unknown>>;

export const refusal = (path: string, reason: string): AppError =>
  new AppError(
    'invalid_constraint',
    `This JSON schema cannot be used: at ${path === '' ? 'its root' : path}, ${reason}.`,
  );

/** The value of `minLength`, `maxItems` and the like; null: not given. */
export function countOf(schema: Json, key: string, path: string): number | null {
  const given = schema[key];
  if (given === undefined) return null;
  if (typeof given === 'bigint' && given >= 0n) return Number(given);
  if (Number.isInteger(given) && (given as number) >= 0) return given as number;
  throw refusal(`${path}/${key}`, 'the value must be an integer of 0 or more');
}

export function namesOf(required: unknown, path: string): readonly string[] {
  if (required === undefined) return [];
  if (Array.isArray(required) && required.every((name) => typeof name === 'string')) return required;
  throw refusal(path, 'the value must be a list of names');
}

/** The type of a JSON value. */
export function typeOf(value: unknown): 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'bigint' ? 'number' : (typeof value as 'object' | 'string' | 'number' | 'boolean');
}
