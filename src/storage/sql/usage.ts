// Usage of requests, by key, project, model and day.
import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import { addUsage, type UsageAmounts, type UsageEntry } from '#domain/usage';
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
  };
}

async function totalsOf(db: Kysely<Tables>, filter: UsageFilter): Promise<UsageAmounts> {
  const totals = await filtered(
    db.selectFrom('usage').select(AMOUNTS.map((name) => sql<number | null>`sum(${sql.ref(name)})`.as(name))),
    filter,
  ).executeTakeFirstOrThrow();
  return {
    requests: Number(totals.requests ?? 0),
    promptTokens: Number(totals.prompt_tokens ?? 0),
    cachedTokens: Number(totals.cached_tokens ?? 0),
    completionTokens: Number(totals.completion_tokens ?? 0),
  };
}

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
