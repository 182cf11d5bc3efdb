// Blobs that count towards an account: deleting them reduces its total. What is stored is charged where it is stored
// (account-limits.ts), since only that code knows the owner.
import type { BlobStore } from '#storage/blobs';
import type { AccountStore } from '#storage/account-store';

export function createChargedBlobs<B extends BlobStore>(blobs: B, accounts: AccountStore): B {
  return {
    ...blobs,
    async delete(name: string) {
      await blobs.delete(name); // first, so that bytes that could not be deleted stay charged
      await accounts.removeBlobs(name);
    },
  };
}
