// What entities may use, and what they keep in the blob store. Part of storage.ts.
import type { Account, Limits } from '#domain/limits';

export interface StoredBlob {
  /** A name, or the prefix of a directory. */
  readonly blob: string;
  readonly entity: string;
  readonly keyId: string;
  readonly sizeBytes: number;
}

export interface AccountStore {
  /** Empty: none were set. */
  limitsOf(entity: string): Promise<Limits>;
  /** Instead of those that were there. */
  setLimits(entity: string, limits: Limits): Promise<void>;
  /** By entity. */
  listLimits(): Promise<readonly { readonly entity: string; readonly limits: Limits }[]>;

  /** Instead of what was noted of that blob before. */
  addBlob(blob: StoredBlob): Promise<void>;
  /** The blob, and everything under `blob/`. Idempotent. */
  removeBlobs(blob: string): Promise<void>;
  storedBytes(account: Account): Promise<number>;
}
