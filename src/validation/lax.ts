// Scalars as pydantic's lax mode reads them: "5" is an integer, "yes" a boolean, 1.5 not an integer. Unlike in pydantic, true and
// false are not numbers: `{"steps": [false]}` must not delete step 0. The JSON Schema in OpenAPI is the strict one.
// Bounds are checked after the conversion.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import type { Complaint } from './parse.ts';
import { readAhead } from './read-ahead.ts';

export interface Bounds {
  readonly ge?: number;
  readonly gt?: number;
  readonly le?: number;
}

export const integer = (bounds: Bounds = {}) => z.preprocess(readInteger, bounded(z.int(), bounds));
export const number = (bounds: Bounds = {}) => z.preprocess(readNumber, bounded(z.number(), bounds));
export const boolean = () => z.preprocess(readBoolean, z.boolean());

/** `alternatives`: name → schema; the name becomes part of `loc`, as in `["body","stop","list[str]"]`. */
export function union<const T extends Readonly<Record<string, z.ZodType>>>(alternatives: T) {
  const schemas = Object.values(alternatives) as [T[keyof T], ...T[keyof T][]];
  return z.union(schemas, { error: Object.keys(alternatives).join(' | ') });
}

/** zod reads all entries before it reports an error in one. */
const ENTRIES_MAX = 10_000;

/** A map from keys to values of that type. */
export const record = <V extends z.ZodType>(value: V) =>
  z.preprocess(
    (input, ctx) => {
      const count = isObject(input) ? Object.keys(input).length : 0;
      if (count <= ENTRIES_MAX) return input;
      const msg = `Dictionary should have at most ${ENTRIES_MAX} items after validation, not ${count}`;
      const sizes = { field_type: 'Dictionary', max_length: ENTRIES_MAX, actual_length: count };
      return complain(ctx, input, { type: 'too_long', msg, ctx: sizes });
    },
    keyed(z.string(), value),
  );

/** A map with names of the client's. zod drops one of them without a word. */
export const keyed = <K extends z.ZodType<string, string>, V extends z.ZodType>(key: K, value: V) =>
  z.preprocess(
    (input, ctx) => {
      if (!isObject(input) || !Object.hasOwn(input, '__proto__')) return input;
      const msg = 'Value error, `__proto__` cannot be a key. Use another name';
      return complain(ctx, input, { type: 'value_error', msg, ctx: { error: {} } });
    },
    z.record(key, value),
  );

/** A map to texts, as it was sent: its keys keep their order in the prompt. */
export const sentTexts = () =>
  readAhead(record(z.string()), (value) => {
    const texts = isObject(value) ? Object.values(value) : null;
    return texts && texts.length <= ENTRIES_MAX && texts.every((text) => typeof text === 'string')
      ? (value as Record<string, string>)
      : null;
  });

/** Counted before the items are read; zod would read them first. */
export const list = <V extends z.ZodType>(item: V, itemsMax: number) =>
  z.preprocess((input, ctx) => {
    if (!Array.isArray(input) || input.length <= itemsMax) return input;
    const msg = `List should have at most ${itemsMax} items`;
    return complain(ctx, input, { type: 'too_long', msg, ctx: { field_type: 'List', max_length: itemsMax } });
  }, z.array(item).max(itemsMax));

function bounded(schema: z.ZodNumber, { ge, gt, le }: Bounds): z.ZodNumber {
  let result = schema;
  if (ge !== undefined) result = result.min(ge);
  if (gt !== undefined) result = result.gt(gt);
  if (le !== undefined) result = result.max(le);
  return result;
}

type Context = z.core.$RefinementCtx;

function complain(ctx: Context, input: unknown, complaint: Complaint): unknown {
  ctx.addIssue({ code: 'custom', input, params: { complaint }, message: complaint.msg });
  return z.NEVER;
}

/** As Python's int() by default: longer numbers are not real input. */
const NUMBER_CHARACTERS_MAX = 4_300;

const INTEGER_TEXT = /^\s*[+-]?\d+(?:\.0+)?\s*$/;

export const isIntegerText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= NUMBER_CHARACTERS_MAX && INTEGER_TEXT.test(value);

function readInteger(value: unknown, ctx: Context): unknown {
  if (value === undefined) return complain(ctx, value, MISSING);
  if (typeof value === 'bigint' || isIntegerText(value)) return Number(value);
  if (typeof value === 'string') {
    return complain(ctx, value, {
      type: 'int_parsing',
      msg: 'Input should be a valid integer, unable to parse string as an integer',
    });
  }
  if (typeof value !== 'number')
    return complain(ctx, value, { type: 'int_type', msg: 'Input should be a valid integer' });
  if (Number.isInteger(value)) return value;
  return complain(ctx, value, {
    type: 'int_from_float',
    msg: 'Input should be a valid integer, got a number with a fractional part',
  });
}

/** Each text can match in only one way: `\d+\.?\d*` would try every split of long digits. */
const NUMBER_TEXT = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

function readNumber(value: unknown, ctx: Context): unknown {
  if (value === undefined) return complain(ctx, value, MISSING);
  if (typeof value === 'string') {
    if (value.length <= NUMBER_CHARACTERS_MAX && NUMBER_TEXT.test(value)) return Number(value);
    if (NOT_FINITE.has(value))
      return complain(ctx, value, { type: 'finite_number', msg: 'Input should be a finite number' });
    return complain(ctx, value, {
      type: 'float_parsing',
      msg: 'Input should be a valid number, unable to parse string as a number',
    });
  }
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'number')
    return complain(ctx, value, { type: 'float_type', msg: 'Input should be a valid number' });
  return value;
}

/** As Python writes them in JSON; json-text.ts turns the bare tokens into strings. */
export const NOT_FINITE: ReadonlySet<unknown> = new Set(['NaN', 'Infinity', '-Infinity']);

const TRUE = new Set(['1', 'true', 't', 'yes', 'y', 'on']);
const FALSE = new Set(['0', 'false', 'f', 'no', 'n', 'off']);

function readBoolean(value: unknown, ctx: Context): unknown {
  if (value === undefined) return complain(ctx, value, MISSING);
  if (typeof value === 'boolean') return value;
  if (value === 1 || value === 0) return value === 1;
  if (typeof value === 'string' && value.length <= 'false'.length) {
    const text = value.toLowerCase();
    if (TRUE.has(text)) return true;
    if (FALSE.has(text)) return false;
  }
  const parseable = ['string', 'number', 'bigint'].includes(typeof value);
  return parseable
    ? complain(ctx, value, { type: 'bool_parsing', msg: 'Input should be a valid boolean, unable to interpret input' })
    : complain(ctx, value, { type: 'bool_type', msg: 'Input should be a valid boolean' });
}

const MISSING: Complaint = { type: 'missing', msg: 'Field required' };
