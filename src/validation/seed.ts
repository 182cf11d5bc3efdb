// Seeds: 64-bit integers on the wire, which JSON numbers cannot represent exactly; json-text.ts keeps large ones as bigints.
import { z } from 'zod';
import { integer, isIntegerText } from './lax.ts';
import type { Complaint } from './parse.ts';

const SEED_MIN = -(2n ** 63n);
const SEED_MAX = 2n ** 63n - 1n;

/** Folded to 52 bits, so that seed + choice stays exact. −1: none. */
export const seed = z
  .unknown()
  .transform((value, ctx): number | null => {
    const read = readSeed(value);
    if (typeof read !== 'object' || read === null) return read;
    ctx.addIssue({ code: 'custom', input: value, params: { complaint: read }, message: read.msg });
    return z.NEVER;
  })
  .optional()
  .meta({
    type: ['integer', 'null'],
    description:
      'The same seed gives the same answer, regardless of other requests. Choice i samples with seed + i. -1: no seed.',
  });

function readSeed(value: unknown): number | null | Complaint {
  if (value === undefined || value === null) return null;
  const checked = integer().safeParse(value);
  if (!checked.success && typeof value !== 'bigint' && !isIntegerText(value)) {
    const issue = checked.error.issues[0] as { params?: { complaint?: Complaint } };
    return issue.params?.complaint ?? { type: 'int_type', msg: 'Input should be a valid integer' };
  }
  const number = BigInt(
    typeof value === 'string' ? value.trim().replace(/^\+|\.0+$/g, '') : (value as number | bigint),
  );
  if (number < SEED_MIN) {
    const msg = `Input should be greater than or equal to ${SEED_MIN}`;
    return { type: 'greater_than_equal', msg, ctx: { ge: Number(SEED_MIN) } };
  }
  if (number > SEED_MAX) {
    const msg = `Input should be less than or equal to ${SEED_MAX}`;
    return { type: 'less_than_equal', msg, ctx: { le: Number(SEED_MAX) } };
  }
  return number === -1n ? null : Number(BigInt.asUintN(52, number));
}
