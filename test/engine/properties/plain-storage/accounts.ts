// The slow, simple reference for what episodes are charged (sql/accounts.ts).
import type { Account } from '#domain/limits';
import type { Payer, StoredBlob } from '#storage/account-store';

export interface Accounts {
  blobs(): readonly StoredBlob[];
  storedBytes(account: Account): Promise<number>;
  /** As that of sql/accounts.ts. */
  chargeWithin(blob: Omit<StoredBlob, 'keyId'>, payer: Payer): boolean;
  forget(blob: string): void;
}

export function createAccounts(): Accounts {
  const blobs = new Map<string, StoredBlob>();
  const stored = ({ entity, keyId }: Account, without = '') =>
    [...blobs.values()]
      .filter((each) => each.entity === entity && each.keyId === (keyId ?? each.keyId) && each.blob !== without)
      .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  function chargeWithin(
    { blob, entity, sizeBytes }: Omit<StoredBlob, 'keyId'>,
    { keyId, keyBytesMax, entityBytesMax }: Payer,
  ): boolean {
    const fits = (account: Account, max: number | null) => max === null || stored(account, blob) + sizeBytes <= max;
    if (!fits({ entity, keyId }, keyBytesMax) || !fits({ entity, keyId: null }, entityBytesMax)) return false;
    blobs.set(blob, { blob, entity, keyId: blobs.get(blob)?.keyId ?? keyId, sizeBytes });
    return true;
  }
  return {
    blobs: () => [...blobs.values()],
    storedBytes: async (account) => stored(account),
    chargeWithin,
    forget: (blob) => void blobs.delete(blob),
  };
}
