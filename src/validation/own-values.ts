// A client's own values, which are stored as JSON and returned: any object. Integers beyond 2^53, which json-text.ts reads as bigints, become
// their text, because stored values are read with JSON.parse, which would round them.
import { z } from 'zod';
import { keyed } from './lax.ts';

export const longIntegersAsText = (value: Readonly<Record<string, unknown>>) =>
  JSON.parse(JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part))) as Readonly<
    Record<string, unknown>
  >;

export const ownValues = (key: z.ZodType<string, string> = z.string()) =>
  keyed(key, z.unknown()).transform(longIntegersAsText);
