// A schema with a fast path, for values that are read by hand or were checked before: zod takes microseconds for each part of a
// value, which is too slow for the largest values.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { check } from './parse.ts';

/** `known` returns the result for a value without the schema; null: use the schema, which also reports errors. */
export function readAhead<S extends z.ZodType>(schema: S, known: (value: unknown) => z.output<S> | null) {
  return z
    .unknown()
    .optional()
    .transform((value, ctx): z.output<S> => {
      const ahead = known(value);
      if (ahead !== null) return ahead;
      const read = check(schema, value);
      if (read.success) return read.data;
      for (const issue of read.error.issues) ctx.addIssue({ ...issue });
      return z.NEVER;
    })
    .meta(wireForm(schema));
}

/** Objects as they were sent: zod would copy them, and what Python knows of them (base/python-form.ts) would be lost. */
export const asSent = <S extends z.ZodType<Record<string, unknown>>>(schema: S) =>
  readAhead(schema, (value) => (isObject(value) ? (value as z.output<S>) : null));

/** The schema that OpenAPI shows. */
function wireForm(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _dialect, ...form } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  });
  return form;
}
