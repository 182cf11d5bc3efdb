// Lists with a cursor: the query for a page, and the envelope of the page.
import { z } from 'zod';
import { COUNTED_MAX, type Listing, type Page } from '#domain/page';
import { integer } from '#validation/lax';

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 20;
/** Of lists whose rows are short and that are read whole, such as the steps of one model. */
const LONG_LIMIT_MAX = 2_000;

export const pageFields = {
  after: z
    .string()
    .optional()
    .describe(
      'Id of the last item of the previous page; the page starts strictly after it. Returns 400 if that item does not exist or was deleted.',
    ),
  limit: integer({ ge: 1, le: LIMIT_MAX }).default(LIMIT_DEFAULT),
};

export const longPageFields = {
  ...pageFields,
  limit: integer({ ge: 1, le: LONG_LIMIT_MAX }).default(LIMIT_DEFAULT),
};

export const orderField = {
  order: z.enum(['asc', 'desc']).default('asc').describe('asc: oldest first. desc: newest first.'),
};

/** Of a count in a list that is counted only so far. */
export const COUNTED = `Counted to ${COUNTED_MAX + 1} at most, which means: more than ${COUNTED_MAX}.`;

export const pageQuery = z.looseObject(pageFields);

export const toPage = ({ after, limit }: z.output<typeof pageQuery>): Page => ({ after: after || null, limit });

export const envelope = <S extends z.ZodType>(item: S) =>
  z.object({
    object: z.literal('list'),
    data: z.array(item),
    first_id: z.string(),
    last_id: z.string(),
    has_more: z.boolean(),
  });

export function toEnvelope<T, W extends { id: string }>({ rows, hasMore, cursor }: Listing<T>, toWire: (row: T) => W) {
  const data = rows.map(toWire);
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? '',
    last_id: cursor ?? data.at(-1)?.id ?? '',
    has_more: hasMore,
  };
}
