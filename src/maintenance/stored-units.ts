// Groups the existing blobs into units that are stored and deleted together: a checkpoint's directory, a job's progress, a file.
// Uses only the names, reads no bytes.
import { BLOB_ROOTS, blobUnit } from '#domain/blob-names';
import type { BlobReader } from '#storage/blobs';
import { CHECKSUMS } from '#storage/directory-checksums';

export interface StoredUnit {
  readonly files: number;
  readonly sizeBytes: number;
  /** Lists of checksums among them: their owner does not pay for these. */
  readonly listBytes: number;
}

export type StoredUnits = ReadonlyMap<string, StoredUnit>;

/** Grouped by what refers to them; unreferenced blobs by the form of their names. */
export async function readStoredUnits(
  blobs: Pick<BlobReader, 'list'>,
  references: ReadonlyMap<string, unknown>,
): Promise<StoredUnits> {
  const units = new Map<string, StoredUnit>();
  for (const root of BLOB_ROOTS) {
    for (const { name, sizeBytes } of await blobs.list(root)) {
      const unit = unitOf(name, references);
      const known = units.get(unit) ?? { files: 0, sizeBytes: 0, listBytes: 0 };
      units.set(unit, {
        files: known.files + 1,
        sizeBytes: known.sizeBytes + sizeBytes,
        listBytes: known.listBytes + (name === `${unit}/${CHECKSUMS}` ? sizeBytes : 0),
      });
    }
  }
  return units;
}

function unitOf(name: string, references: ReadonlyMap<string, unknown>): string {
  const segments = name.split('/');
  for (let depth = segments.length; depth > 1; depth--) {
    const above = segments.slice(0, depth).join('/');
    if (references.has(above)) return above;
  }
  return blobUnit(name);
}
