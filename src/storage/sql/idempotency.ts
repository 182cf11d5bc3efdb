// What a creating POST answered, for 24 hours.
import type { Kysely } from 'kysely';
import { IN_PROGRESS_MS_MAX, REMEMBERED_MS } from '../idempotency-times.ts';
import type { IdempotencyStore } from '../storage.ts';
import type { Tables } from './rows.ts';

export function createIdempotencyStore(db: Kysely<Tables>): IdempotencyStore {
  return {
    begin(key, bodyHash, nowMs) {
      return db.transaction().execute(async (tx) => {
        await tx
          .deleteFrom('idempotency_keys')
          .where('created_at_ms', '<=', nowMs - REMEMBERED_MS)
          .execute();
        await tx
          .deleteFrom('idempotency_keys')
          .where('key', '=', key) // only this one: an answer that comes late is still worth remembering
          .where('response', 'is', null)
          .where('created_at_ms', '<=', nowMs - IN_PROGRESS_MS_MAX)
          .execute();
        const known = await tx.selectFrom('idempotency_keys').selectAll().where('key', '=', key).executeTakeFirst();
        if (!known) {
          await tx
            .insertInto('idempotency_keys')
            .values({ key, body_hash: bodyHash, response: null, created_at_ms: nowMs })
            .execute();
          return { outcome: 'new' as const };
        }
        if (known.body_hash !== bodyHash) return { outcome: 'mismatch' as const };
        if (known.response === null) return { outcome: 'in_progress' as const };
        return { outcome: 'done' as const, response: known.response };
      });
    },

    async complete(key, response) {
      await db.updateTable('idempotency_keys').set({ response }).where('key', '=', key).execute();
    },

    async release(key) {
      await db.deleteFrom('idempotency_keys').where('key', '=', key).where('response', 'is', null).execute();
    },
  };
}
