// What can be wrong with a store, and what can be done about it.
import type { StoredBlob } from '#storage/account-store';

export type FindingKind =
  | 'database_damaged'
  | 'dangling_reference'
  | 'old_schema'
  | 'new_schema'
  | 'bad_events'
  | 'duplicate_checkpoint'
  | 'missing_data'
  | 'damaged_data'
  | 'orphan_blob' // no row refers to it
  | 'leftover_job_data' // progress of a job that has ended
  | 'ledger_without_blob'
  | 'blob_without_ledger'
  | 'wrong_ledger_size'
  | 'open_permissions'; // other users of the machine may read what is stored

export interface Finding {
  readonly kind: FindingKind;
  /** The blob, job or file. */
  readonly where: string;
  readonly problem: string;
  /** What --repair does; without a repair, what an operator can do. */
  readonly remedy: string;
  /** Loses nothing that a user relies on. */
  readonly repair: Repair | null;
}

export type Repair =
  | { readonly do: 'delete_blobs' | 'quarantine_blobs'; readonly blob: string; readonly sizeBytes: number }
  | { readonly do: 'forget_ledger'; readonly blob: string }
  | { readonly do: 'write_ledger'; readonly stored: StoredBlob }
  | { readonly do: 'make_private'; readonly directory: string };
