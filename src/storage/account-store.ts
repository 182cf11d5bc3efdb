// What entities may use, and what they keep in the blob store. Part of storage.ts.
import type { Account, Limits } from '#domain/limits';

export interface StoredBlob {
  /** A name, the prefix of a directory, or what stands for rows (domain/blob-names.ts). */
  readonly blob: string;
  readonly entity: string;
  readonly keyId: string;
  readonly sizeBytes: number;
}

/** Who pays for what an entity stores, and the most that may be stored with it; null: not limited. */
export interface Payer {
  readonly keyId: string;
  readonly keyBytesMax: number | null;
  readonly entityBytesMax: number | null;
}

export interface AccountStore {
  /** Empty: none were set. */
  limitsOf(entity: string): Promise<Limits>;
  /** Instead of those that were there. */
  setLimits(entity: string, limits: Limits): Promise<void>;
  /** By entity. */
  listLimits(): Promise<readonly { readonly entity: string; readonly limits: Limits }[]>;

  /** Instead of what was noted of that blob before, whatever the limits. */
  addBlob(blob: StoredBlob): Promise<void>;
  /** As addBlob, but no two pass a limit together. False: over a limit of the payer, and nothing is noted. */
  addBlobWithin(blob: Omit<StoredBlob, 'keyId'>, payer: Payer): Promise<boolean>;
  /** The blob, and everything under `blob/`. Idempotent. */
  removeBlobs(blob: string): Promise<void>;
  storedBytes(account: Account): Promise<number>;
}
