// Limits of entities, and the bytes stored by each key.
import type { Kysely, Transaction } from 'kysely';
import type { Account, Limits } from '#domain/limits';
import type { AccountStore, Payer, StoredBlob } from '../account-store.ts';
import type { Tables } from './rows.ts';
import { transactionOf } from './transaction.ts';

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

    addBlobWithin: (blob, payer) => transactionOf(db, `entity ${blob.entity}`, (tx) => chargeWithin(tx, blob, payer)),

    async removeBlobs(name) {
      await db
        .deleteFrom('stored_blobs')
        .where((eb) =>
          // '0' is the character after '/': an index serves the range, and % or _ in a name are taken literally.
          eb.or([eb('blob', '=', name), eb.and([eb('blob', '>=', `${name}/`), eb('blob', '<', `${name}0`)])]),
        )
        .execute();
    },

    storedBytes: (account) => storedBytes(db, account),
  };
}

async function storedBytes(db: Kysely<Tables>, { entity, keyId }: Account, without = ''): Promise<number> {
  let query = db
    .selectFrom('stored_blobs')
    .select((eb) => eb.fn.sum<number | string | null>('size_bytes').as('bytes'))
    .where('entity', '=', entity)
    .where('blob', '!=', without);
  if (keyId !== null) query = query.where('key_id', '=', keyId);
  return Number((await query.executeTakeFirstOrThrow()).bytes ?? 0);
}

/**
 * In the transaction that stores it, which runs alone or names the entity: two writers cannot pass a limit together. A blob noted before keeps its payer.
 * Returns false if this would exceed a limit; nothing was noted then.
 */
export async function chargeWithin(
  tx: Transaction<Tables>,
  { blob, entity, sizeBytes }: Omit<StoredBlob, 'keyId'>,
  { keyId, keyBytesMax, entityBytesMax }: Payer,
): Promise<boolean> {
  const accounts = [
    { account: { entity, keyId }, max: keyBytesMax },
    { account: { entity, keyId: null }, max: entityBytesMax },
  ];
  for (const { account, max } of accounts) {
    if (max !== null && (await storedBytes(tx, account, blob)) + sizeBytes > max) return false;
  }
  await tx
    .insertInto('stored_blobs')
    .values({ blob, entity, key_id: keyId, size_bytes: sizeBytes })
    .onConflict((conflict) => conflict.column('blob').doUpdateSet({ size_bytes: sizeBytes }))
    .execute();
  return true;
}
