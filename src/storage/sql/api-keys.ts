// API keys: which callers are allowed.
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
          scopes: JSON.stringify(key.scopes),
          limits: JSON.stringify(key.limits),
          created_at_ms: key.createdAtMs,
          last_used_at_ms: key.lastUsedAtMs,
          revoked_at_ms: key.revokedAtMs,
        })
        .execute();
    },

    async findByHash(secretHash) {
      const row = await db.selectFrom('api_keys').selectAll().where('secret_hash', '=', secretHash).executeTakeFirst();
      return row ? toApiKey(row) : null;
    },

    async list(entity) {
      let query = db.selectFrom('api_keys').selectAll();
      if (entity !== null) query = query.where('entity', '=', entity);
      return (await query.orderBy('created_at_ms').orderBy('id').execute()).map(toApiKey);
    },

    async touch(id, usedAtMs) {
      await db
        .updateTable('api_keys')
        .set({ last_used_at_ms: usedAtMs })
        .where('id', '=', id)
        .where((eb) => eb.or([eb('last_used_at_ms', 'is', null), eb('last_used_at_ms', '<', usedAtMs)]))
        .execute();
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
