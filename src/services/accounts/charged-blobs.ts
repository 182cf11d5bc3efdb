// Blobs whose bytes are on somebody's account: what is deleted is taken off it. Who pays is noted where something is stored
// (account-limits.ts), since only that place knows the owner.
import type { BlobStore } from '#storage/blobs';
import type { AccountStore } from '#storage/account-store';

export function createChargedBlobs<B extends BlobStore>(blobs: B, accounts: AccountStore): B {
  return {
    ...blobs,
    async delete(name: string) {
      await blobs.delete(name); // first: bytes that are there stay on the account
      await accounts.removeBlobs(name);
    },
  };
}
