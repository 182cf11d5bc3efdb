// Copies a store that stays in use: the rows of one moment, then the blobs that they refer to. Blobs never change while a row refers
// to them, so blobs that are copied later are the same; blobs deleted in the meantime are missing from newer rows, and the rows are
// copied again. Does not know where rows and blobs are stored, or how a copy becomes durable.
import type { AccountStore } from '#storage/account-store';
import type { BlobReader, BlobStore } from '#storage/blobs';
import type { Inventory } from '#storage/inventory';
import { examine, type Examination } from './doctor.ts';
import { repairAll } from './doctor-repair.ts';
import { bytesOf, countReads, type OnProgress } from './read-progress.ts';
import { findStoredFault, type Fault } from './stored-checks.ts';
import { readStoredRows, type StoredReference } from './stored-references.ts';
import { readStoredUnits } from './stored-units.ts';

/** The rows of the copy. */
export interface CopiedRows {
  readonly inventory: Inventory;
  readonly accounts: AccountStore;
  close(): Promise<void>;
}

export interface BackupDeps {
  /** Replaces the copied rows by all rows of one moment. */
  readonly copyRows: () => Promise<CopiedRows>;
  readonly source: BlobReader;
  /** Empty at first, and used by this backup alone. */
  readonly target: BlobStore;
  readonly onProgress?: OnProgress;
}

export interface BackupReport extends Examination {
  /** False: blobs were deleted faster than they were copied; missing ones are among the findings. */
  readonly settled: boolean;
}

/** How often the rows may be copied. Each later round only copies blobs that are new since the round before. */
const ROUNDS_MAX = 5;

/** Findings are what the source has lost; everything else is in the copy and intact. */
export async function backUp({ copyRows, source, target, onProgress }: BackupDeps): Promise<BackupReport> {
  const copied = new Set<string>();
  let [doneBytes, ofBytes] = [0, 0];
  const counted = countReads(source, (bytes) => onProgress?.((doneBytes += bytes), ofBytes));
  let before: ReadonlyMap<string, Fault> = new Map();
  for (let round = 1; ; round++) {
    const rows = await copyRows();
    try {
      const faults = new Map<string, Fault>();
      const { references } = await readStoredRows(rows.inventory);
      const uncopied = [...references.values()].filter(({ blob }) => !copied.has(blob));
      ofBytes = doneBytes + bytesOf(uncopied, await readStoredUnits(source, references));
      onProgress?.(doneBytes, ofBytes);
      for (const reference of uncopied) {
        const fault = await copyOne(reference, counted, target);
        if (fault === null) copied.add(reference.blob);
        else faults.set(reference.blob, fault);
      }
      // A blob that is damaged in two rounds, and still referred to, was not deleted in the meantime: it is lost.
      const settled = [...faults.keys()].every((blob) => before.has(blob));
      if (settled || round === ROUNDS_MAX) return { ...(await tidy(rows, target, faults)), settled };
      before = faults;
    } finally {
      await rows.close();
    }
  }
}

/** Null: the copy has the stored bytes. Blobs that are never read again may be missing or damaged. */
async function copyOne(reference: StoredReference, source: BlobReader, target: BlobStore): Promise<Fault | null> {
  await copyBlobs(reference, source, target);
  return reference.needed ? findStoredFault(target, reference) : null;
}

export async function copyBlobs({ blob, form }: StoredReference, source: BlobReader, target: BlobStore): Promise<void> {
  await target.delete(blob); // from an earlier round
  const names = form.form === 'directory' ? (await source.list(blob)).map(({ name }) => name) : [blob];
  for (const name of names) {
    const content = await source.stream(name);
    if (content !== null) await target.put(name, content);
  }
}

/** Removes what earlier rounds copied and rows no longer refer to, including job progress that the ledger still charges for. */
async function tidy(
  { inventory, accounts }: CopiedRows,
  target: BlobStore,
  faults: ReadonlyMap<string, Fault>,
): Promise<Examination> {
  const check = async ({ blob }: StoredReference) => faults.get(blob) ?? null;
  const { findings, looked } = await examine({ inventory, blobs: target, check });
  const repaired = await repairAll(findings, { blobs: target, accounts, quarantine: null });
  return { findings: findings.filter((finding) => !repaired.has(finding)), looked };
}
