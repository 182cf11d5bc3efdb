// Scalars as pydantic's lax mode reads them: "5" is an integer, "yes" a boolean, 1.5 is no integer. The JSON Schema that
// OpenAPI shows is the strict one. Bounds are checked after the conversion.
import { z } from 'zod';
import type { Complaint } from './validation.ts';

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

const INTEGER_TEXT = /^\s*[+-]?\d+(?:\.0+)?\s*$/;

function readInteger(value: unknown, ctx: Context): unknown {
  if (value === undefined) return complain(ctx, value, MISSING);
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'string') {
    if (INTEGER_TEXT.test(value)) return Number(value);
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

const NUMBER_TEXT = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

function readNumber(value: unknown, ctx: Context): unknown {
  if (value === undefined) return complain(ctx, value, MISSING);
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'string') {
    if (NUMBER_TEXT.test(value)) return Number(value);
    if (NOT_FINITE.has(value))
      return complain(ctx, value, { type: 'finite_number', msg: 'Input should be a finite number' });
    return complain(ctx, value, {
      type: 'float_parsing',
      msg: 'Input should be a valid number, unable to parse string as a number',
    });
  }
  if (typeof value !== 'number')
    return complain(ctx, value, { type: 'float_type', msg: 'Input should be a valid number' });
  return value;
}

/** How Python writes them in JSON; json-body.ts turns the bare tokens into strings. */
export const NOT_FINITE: ReadonlySet<unknown> = new Set(['NaN', 'Infinity', '-Infinity']);

const TRUE = new Set(['1', 'true', 't', 'yes', 'y', 'on']);
const FALSE = new Set(['0', 'false', 'f', 'no', 'n', 'off']);

function readBoolean(value: unknown, ctx: Context): unknown {
  if (value === undefined) return complain(ctx, value, MISSING);
  if (typeof value === 'boolean') return value;
  if (value === 1 || value === 0) return value === 1;
  if (typeof value === 'string') {
    const text = value.toLowerCase();
    if (TRUE.has(text)) return true;
    if (FALSE.has(text)) return false;
  }
  const parseable = typeof value === 'string' || typeof value === 'number';
  return parseable
    ? complain(ctx, value, { type: 'bool_parsing', msg: 'Input should be a valid boolean, unable to interpret input' })
    : complain(ctx, value, { type: 'bool_type', msg: 'Input should be a valid boolean' });
}

const MISSING: Complaint = { type: 'missing', msg: 'Field required' };
