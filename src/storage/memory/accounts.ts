// The slow, simple reference for sql/accounts.ts.
import type { Account, Limits } from '#domain/limits';
import type { AccountStore, Payer, StoredBlob } from '../account-store.ts';

export interface MemoryAccounts extends AccountStore {
  blobs(): readonly StoredBlob[];
  /** As that of sql/accounts.ts. */
  chargeWithin(blob: Omit<StoredBlob, 'keyId'>, payer: Payer): boolean;
  forget(blob: string): void;
}

export function createMemoryAccounts(): MemoryAccounts {
  const limits = new Map<string, Limits>();
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
    limitsOf: async (entity) => limits.get(entity) ?? {},
    setLimits: async (entity, values) => void limits.set(entity, values),
    listLimits: async () =>
      [...limits]
        .map(([entity, values]) => ({ entity, limits: values }))
        .sort((a, b) => (a.entity < b.entity ? -1 : 1)),
    addBlob: async (blob) => void blobs.set(blob.blob, blob),
    addBlobWithin: async (blob, payer) => chargeWithin(blob, payer),
    async removeBlobs(name) {
      for (const blob of blobs.keys()) if (blob === name || blob.startsWith(`${name}/`)) blobs.delete(blob);
    },
    storedBytes: async (account) => stored(account),
    chargeWithin,
    forget: (blob) => void blobs.delete(blob),
  };
}
