// Who may call.
import type { Kysely } from 'kysely';
import type { ApiKeyStore } from '../storage.ts';
import { toApiKey, type Tables } from './rows.ts';

export function createApiKeyStore(db: Kysely<Tables>): ApiKeyStore {
  return {
    async create(key) {
      await db
        .insertInto('api_keys')
        .values({
          id: key.id,
          entity: key.entity,
          name: key.name,
          secret_hash: key.secretHash,
          created_at_ms: key.createdAtMs,
          revoked_at_ms: key.revokedAtMs,
        })
        .execute();
    },

    async findByHash(secretHash) {
      const row = await db.selectFrom('api_keys').selectAll().where('secret_hash', '=', secretHash).executeTakeFirst();
      return row ? toApiKey(row) : null;
    },

    async list() {
      return (await db.selectFrom('api_keys').selectAll().orderBy('created_at_ms').orderBy('id').execute()).map(
        toApiKey,
      );
    },

    async revoke(id, nowMs) {
      const { numUpdatedRows } = await db
        .updateTable('api_keys')
        .set({ revoked_at_ms: nowMs })
        .where('id', '=', id)
        .where('revoked_at_ms', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows > 0n) return 'revoked';
      const known = await db.selectFrom('api_keys').select('id').where('id', '=', id).executeTakeFirst();
      return known ? 'already_revoked' : 'not_found';
    },
  };
}
