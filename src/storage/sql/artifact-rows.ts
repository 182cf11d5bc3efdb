// Rows of artifacts in the database. The list of tables is in rows.ts.
import type { Selectable } from 'kysely';
import type { ArtifactContent } from '#domain/artifact';
import type { ArtifactUse } from '#domain/run';

export interface ArtifactContentTable {
  entity: string;
  sha256: string;
  md5: string | null;
  size_bytes: number;
  blob: string;
  /** When it was last uploaded or committed. */
  used_at_ms: number;
}

export interface ArtifactTable {
  id: string;
  /** Order of creation. */
  ordinal: number;
  entity: string;
  project: string;
  name: string;
  version: number;
  type: string;
  metadata: string;
  digest: string;
  created_at_ms: number;
  /** Of its files, which never change. */
  file_count: number;
  size_bytes: number;
}

export interface ArtifactFileTable {
  artifact_id: string;
  path: string;
  entity: string;
  sha256: string;
  size_bytes: number;
}

export interface RunArtifactTable {
  run_id: string;
  artifact_id: string;
  how: ArtifactUse;
}

export interface ArtifactDraftTable {
  id: string;
  about: string;
  created_at_ms: number;
}

export interface ArtifactAliasTable {
  entity: string;
  project: string;
  name: string;
  alias: string;
  artifact_id: string;
}

export const toArtifactContent = (row: Selectable<ArtifactContentTable>): ArtifactContent => ({
  entity: row.entity,
  sha256: row.sha256,
  md5: row.md5,
  sizeBytes: row.size_bytes,
  blob: row.blob,
});
