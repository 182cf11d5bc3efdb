// Limits of entities, and the bytes that each key stored.
import type { Kysely } from 'kysely';
import type { Limits } from '#domain/limits';
import type { AccountStore } from '../account-store.ts';
import type { Tables } from './rows.ts';

export function createAccountStore(db: Kysely<Tables>): AccountStore {
  return {
    async limitsOf(entity) {
      const row = await db.selectFrom('entity_limits').select('limits').where('entity', '=', entity).executeTakeFirst();
      return row ? (JSON.parse(row.limits) as Limits) : {};
    },

    async setLimits(entity, limits) {
      const text = JSON.stringify(limits);
      await db
        .insertInto('entity_limits')
        .values({ entity, limits: text })
        .onConflict((conflict) => conflict.column('entity').doUpdateSet({ limits: text }))
        .execute();
    },

    async listLimits() {
      const rows = await db.selectFrom('entity_limits').selectAll().orderBy('entity').execute();
      return rows.map(({ entity, limits }) => ({ entity, limits: JSON.parse(limits) as Limits }));
    },

    async addBlob({ blob, entity, keyId, sizeBytes }) {
      const owned = { entity, key_id: keyId, size_bytes: sizeBytes };
      await db
        .insertInto('stored_blobs')
        .values({ blob, ...owned })
        .onConflict((conflict) => conflict.column('blob').doUpdateSet(owned))
        .execute();
    },

    async removeBlobs(name) {
      await db
        .deleteFrom('stored_blobs')
        .where((eb) =>
          // '0' is the character after '/': an index serves the range, and a name with % or _ means itself.
          eb.or([eb('blob', '=', name), eb.and([eb('blob', '>=', `${name}/`), eb('blob', '<', `${name}0`)])]),
        )
        .execute();
    },

    async storedBytes({ entity, keyId }) {
      let query = db
        .selectFrom('stored_blobs')
        .select((eb) => eb.fn.sum<number | string | null>('size_bytes').as('bytes'))
        .where('entity', '=', entity);
      if (keyId !== null) query = query.where('key_id', '=', keyId);
      return Number((await query.executeTakeFirstOrThrow()).bytes ?? 0);
    },
  };
}
