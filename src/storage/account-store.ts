// The limits of entities, and what they store in the blob store. Part of storage.ts.
import type { Account, Limits } from '#domain/limits';

export interface StoredBlob {
  /** A blob's name, the prefix of a directory, or a name that represents rows (domain/blob-names.ts). */
  readonly blob: string;
  readonly entity: string;
  readonly keyId: string;
  readonly sizeBytes: number;
}

/** The payer for what an entity stores, and the maximum that it may store; null: no limit. */
export interface Payer {
  readonly keyId: string;
  readonly keyBytesMax: number | null;
  readonly entityBytesMax: number | null;
}

export interface AccountStore {
  /** Empty if no limits were set. */
  limitsOf(entity: string): Promise<Limits>;
  /** Replaces the previous limits. */
  setLimits(entity: string, limits: Limits): Promise<void>;
  /** By entity. */
  listLimits(): Promise<readonly { readonly entity: string; readonly limits: Limits }[]>;

  /** Replaces the previous note for that blob, whatever the limits. */
  addBlob(blob: StoredBlob): Promise<void>;
  /** Like addBlob, but enforces the limits atomically. False: this would exceed a limit of the payer, and nothing was noted. */
  addBlobWithin(blob: Omit<StoredBlob, 'keyId'>, payer: Payer): Promise<boolean>;
  /** The blob, and everything under `blob/`. Idempotent. */
  removeBlobs(blob: string): Promise<void>;
  storedBytes(account: Account): Promise<number>;
}
