// Answers of creating POST requests, kept for 24 hours.
import type { Kysely } from 'kysely';
import { IN_PROGRESS_MS_MAX, REMEMBERED_MS } from '../idempotency-times.ts';
import type { IdempotencyStore } from '../storage.ts';
import { PIECE } from './pieces.ts';
import type { Tables } from './rows.ts';
import { transactionOf } from './transaction.ts';

export function createIdempotencyStore(db: Kysely<Tables>): IdempotencyStore {
  return {
    begin(key, bodyHash, resourceId, nowMs) {
      return transactionOf(db, `idempotency key ${key}`, async (tx) => {
        const old = tx
          .selectFrom('idempotency_keys')
          .select('key')
          .where('created_at_ms', '<=', nowMs - REMEMBERED_MS);
        await tx.deleteFrom('idempotency_keys').where('key', 'in', old.limit(PIECE)).execute();
        const known = await tx.selectFrom('idempotency_keys').selectAll().where('key', '=', key).executeTakeFirst();
        if (!known) {
          await tx
            .insertInto('idempotency_keys')
            .values({
              key,
              body_hash: bodyHash,
              resource_id: resourceId,
              response: null,
              created_at_ms: nowMs,
              held_since_ms: nowMs,
            })
            .execute();
          return { outcome: 'new' as const, resourceId };
        }
        if (known.body_hash !== bodyHash) return { outcome: 'mismatch' as const };
        if (known.response !== null) return { outcome: 'done' as const, response: known.response };
        if (nowMs - known.held_since_ms < IN_PROGRESS_MS_MAX) return { outcome: 'in_progress' as const };
        await tx.updateTable('idempotency_keys').set({ held_since_ms: nowMs }).where('key', '=', key).execute();
        return { outcome: 'new' as const, resourceId: known.resource_id };
      });
    },

    async complete(key, response) {
      await db.updateTable('idempotency_keys').set({ response }).where('key', '=', key).execute();
    },

    async release(key) {
      await db.deleteFrom('idempotency_keys').where('key', '=', key).where('response', 'is', null).execute();
    },

    async abandon(key, heldSinceMs) {
      await db
        .updateTable('idempotency_keys')
        .set({ held_since_ms: 0 })
        .where('key', '=', key)
        .where('held_since_ms', '=', heldSinceMs)
        .where('response', 'is', null)
        .execute();
    },

    async releaseAll() {
      await db.updateTable('idempotency_keys').set({ held_since_ms: 0 }).where('response', 'is', null).execute();
    },
  };
}
