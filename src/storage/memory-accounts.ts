// The slow, obvious twin of sql/accounts.ts.
import type { Limits } from '#domain/limits';
import type { AccountStore, StoredBlob } from './account-store.ts';

export function createMemoryAccounts(): AccountStore & { blobs(): readonly StoredBlob[] } {
  const limits = new Map<string, Limits>();
  const blobs = new Map<string, StoredBlob>();
  return {
    blobs: () => [...blobs.values()],
    limitsOf: async (entity) => limits.get(entity) ?? {},
    setLimits: async (entity, values) => void limits.set(entity, values),
    listLimits: async () =>
      [...limits]
        .map(([entity, values]) => ({ entity, limits: values }))
        .sort((a, b) => (a.entity < b.entity ? -1 : 1)),
    addBlob: async (blob) => void blobs.set(blob.blob, blob),
    async removeBlobs(name) {
      for (const blob of blobs.keys()) if (blob === name || blob.startsWith(`${name}/`)) blobs.delete(blob);
    },
    storedBytes: async ({ entity, keyId }) =>
      [...blobs.values()]
        .filter((blob) => blob.entity === entity && blob.keyId === (keyId ?? blob.keyId))
        .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  };
}
