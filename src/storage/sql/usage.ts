// What requests used, by key, project, model and day.
import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import { NO_USAGE, type UsageAmounts } from '#domain/usage';
import type { UsageFilter, UsageStore } from '../storage.ts';
import { usageId } from '../usage-id.ts';
import { toListing } from './listing.ts';
import { toUsage, type Tables } from './rows.ts';

const AMOUNTS = ['requests', 'prompt_tokens', 'cached_tokens', 'completion_tokens'] as const;

export function createUsageStore(db: Kysely<Tables>): UsageStore {
  return {
    add(entries) {
      return db.transaction().execute(async (tx) => {
        for (const entry of entries) {
          await tx
            .insertInto('usage')
            .values({
              id: usageId(entry),
              entity: entry.entity,
              key_id: entry.keyId,
              project: entry.project,
              model: entry.model,
              day_utc: entry.dayUtc,
              requests: entry.requests,
              prompt_tokens: entry.promptTokens,
              cached_tokens: entry.cachedTokens,
              completion_tokens: entry.completionTokens,
            })
            .onConflict((conflict) =>
              conflict.column('id').doUpdateSet(
                Object.fromEntries(AMOUNTS.map((name) => [name, sql`usage.${sql.ref(name)} + excluded.${sql.ref(name)}`])),
              ),
            )
            .execute();
        }
      });
    },

    async list(filter, { after, limit }) {
      let query = filtered(db.selectFrom('usage').selectAll(), filter);
      if (after !== null) {
        const seen = sql<string>`(select day_utc || id from usage where id = ${after} and entity = ${filter.entity})`;
        query = query.where(sql<string>`day_utc || id`, '>', seen);
      }
      const rows = await query.orderBy('day_utc').orderBy('id').limit(limit + 1).execute();
      return toListing(rows, limit, toUsage);
    },

    async total(filter) {
      const sums = AMOUNTS.map((name) => sql<number | null>`sum(${sql.ref(name)})`.as(name));
      const row = await filtered(db.selectFrom('usage').select(sums), filter).executeTakeFirst();
      return row ? toAmounts(row) : NO_USAGE;
    },
  };
} // prettier-ignore

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

const toAmounts = (row: Readonly<Record<(typeof AMOUNTS)[number], number | null>>): UsageAmounts => ({
  requests: Number(row.requests ?? 0),
  promptTokens: Number(row.prompt_tokens ?? 0),
  cachedTokens: Number(row.cached_tokens ?? 0),
  completionTokens: Number(row.completion_tokens ?? 0),
});
