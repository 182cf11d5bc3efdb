// Usage of requests, by key, project, model and day.
import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import { addUsage, type UsageAmounts, type UsageEntry, type UsagePart } from '#domain/usage';
import type { UsageFilter, UsageStore } from '../storage.ts';
import { cursorRow, toListing } from './listing.ts';
import { fromUsage, toUsageRow, type Tables } from './rows.ts';
import { transactionOf } from './transaction.ts';

const AMOUNTS = ['requests', 'prompt_tokens', 'cached_tokens', 'completion_tokens'] as const;

export function createUsageStore(db: Kysely<Tables>): UsageStore {
  return {
    async add(entries) {
      const rows = new Map<string, UsageEntry>();
      for (const entry of entries) addUsage(rows, entry);
      if (rows.size === 0) return;
      await transactionOf(db, 'usage', async (tx) => {
        const last = await tx
          .selectFrom('usage')
          .select((eb) => eb.fn.max('ordinal').as('ordinal'))
          .executeTakeFirst();
        let ordinal = Number(last?.ordinal ?? 0);
        for (const [id, entry] of rows) {
          await tx
            .insertInto('usage')
            .values(fromUsage(id, ++ordinal, entry))
            .onConflict((conflict) => conflict.column('id').doUpdateSet(SUMS))
            .execute();
        }
      });
    },

    list(filter, { after, limit }) {
      return transactionOf(db, 'usage', async (tx) => {
        let query = filtered(tx.selectFrom('usage').selectAll(), filter);
        if (after !== null) {
          const cursor = tx
            .selectFrom('usage')
            .select(['day_utc', 'ordinal'])
            .where('id', '=', after)
            .where('entity', '=', filter.entity);
          const seen = await cursorRow(cursor, after);
          query = query.where(sql<boolean>`(day_utc, ordinal) > (${seen.day_utc}, ${seen.ordinal})`);
        }
        const rows = await query
          .orderBy('day_utc')
          .orderBy('ordinal')
          .limit(limit + 1)
          .execute();
        return { ...toListing(rows, limit, toUsageRow), totals: await totalsOf(tx, filter) };
      });
    },

    sums(filter, by, limit) {
      return transactionOf(db, 'usage', async (tx) => {
        const parts = by.map((part) => PARTS[part].as(`by_${part}`));
        const names = by.map((part) => sql.ref(`by_${part}`)); // no column's name: that would be grouped by instead
        const sums = AMOUNTS.map((name) => sql<number | string>`sum(${sql.ref(name)})`.as(name));
        const rows = await filtered(tx.selectFrom('usage').select([...parts, ...sums]), filter)
          .groupBy(names)
          .orderBy(sql`sum(prompt_tokens + completion_tokens)`, 'desc')
          .orderBy(sql.join(names))
          .limit(limit + 1)
          .execute();
        const part = (row: object, name: UsagePart) =>
          (row as Record<string, string | undefined>)[`by_${name}`] ?? null;
        const listing = toListing(rows, limit, (row) => ({
          ...amountsOf(row),
          ...{ model: part(row, 'model'), keyId: part(row, 'api_key') },
          ...{ project: part(row, 'project'), dayUtc: part(row, 'day') },
        }));
        return { ...listing, totals: await totalsOf(tx, filter) };
      });
    },
  };
}

async function totalsOf(db: Kysely<Tables>, filter: UsageFilter): Promise<UsageAmounts> {
  const totals = await filtered(
    db.selectFrom('usage').select(AMOUNTS.map((name) => sql<number | null>`sum(${sql.ref(name)})`.as(name))),
    filter,
  ).executeTakeFirstOrThrow();
  return amountsOf(totals);
}

const amountsOf = (row: Readonly<Record<(typeof AMOUNTS)[number], number | string | null>>): UsageAmounts => ({
  requests: Number(row.requests ?? 0),
  promptTokens: Number(row.prompt_tokens ?? 0),
  cachedTokens: Number(row.cached_tokens ?? 0),
  completionTokens: Number(row.completion_tokens ?? 0),
});

/** Names end in `:step12`; neither database can cut that off with one function. */
const WITHOUT_DIGITS = sql`rtrim(model, '0123456789')`;
const MODEL = sql<string>`case when model like '%:step_%' and ${WITHOUT_DIGITS} like '%:step'
  then substr(${WITHOUT_DIGITS}, 1, length(${WITHOUT_DIGITS}) - 5) else model end`;

const PARTS = {
  model: MODEL,
  api_key: sql<string>`key_id`,
  project: sql<string>`project`,
  day: sql<string>`day_utc`,
} as const satisfies Record<UsagePart, unknown>;

const SUMS = Object.fromEntries(AMOUNTS.map((name) => [name, sql`usage.${sql.ref(name)} + excluded.${sql.ref(name)}`]));

function filtered<O>(
  query: SelectQueryBuilder<Tables, 'usage', O>,
  { entity, keyId, project, model, from, to }: UsageFilter,
): SelectQueryBuilder<Tables, 'usage', O> {
  let narrowed = query.where('entity', '=', entity);
  if (keyId !== undefined) narrowed = narrowed.where('key_id', '=', keyId);
  if (project !== undefined) narrowed = narrowed.where('project', '=', project);
  if (model !== undefined) narrowed = narrowed.where('model', '=', model);
  if (from !== undefined) narrowed = narrowed.where('day_utc', '>=', from);
  if (to !== undefined) narrowed = narrowed.where('day_utc', '<=', to);
  return narrowed;
}
