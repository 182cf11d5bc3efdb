// A named, versioned thing in a project: training data, adapters. A version never changes; an alias may move to another version.
// File contents are blobs (storage/blobs).

export interface ArtifactName {
  readonly entity: string;
  readonly project: string;
  readonly name: string;
}

export interface ArtifactFile {
  /** Slash-separated, relative, without `..`. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Hex. */
  readonly sha256: string;
}

export interface ArtifactVersion extends ArtifactName {
  readonly id: string; // uuid
  /** 0, 1, 2, … in order of creation. The number of a deleted version is not reused while later versions exist. */
  readonly version: number;
  /** `dataset`, `lora`, … */
  readonly type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The version's own aliases, sorted. `latest` is not among them: it follows from the numbers. */
  readonly aliases: readonly string[];
  /** By path. */
  readonly files: readonly ArtifactFile[];
  /** Digest of type, metadata and files: equal digests mean equal content. */
  readonly digest: string;
  readonly createdAtMs: number;
}

/**
 * Rounded up from what 20,000 rows took in SQLite: 440 for a version, 260 plus twice the path for a file, 160 for an alias (indexes
 * repeat the path, the hash and the names). The content row, another 280 shared by all files with equal content, is not included.
 */
const VERSION_BYTES = 500;
const FILE_BYTES = 300;
const ALIAS_BYTES = 300;

/** Approximate size of a version's rows in the database. */
export const rowBytes = ({ metadata, files }: Pick<ArtifactVersion, 'metadata' | 'files'>, aliases: number): number =>
  files.reduce(
    (sum, { path }) => sum + FILE_BYTES + 2 * Buffer.byteLength(path),
    VERSION_BYTES + Buffer.byteLength(JSON.stringify(metadata)) + aliases * ALIAS_BYTES,
  );

/** All versions of one name that have one type: an artifact, or the checkpoints of a model. */
export interface ArtifactCollection {
  readonly name: string;
  readonly type: string;
  /** Creation time of the oldest remaining version; for a model, its registration time. */
  readonly createdAtMs: number;
}

/** What a list of versions may be sorted by. Of equal ones the older is smaller. */
export const ARTIFACT_SORTS = ['created', 'project', 'name', 'type', 'files', 'size'] as const;
export type ArtifactSort = (typeof ARTIFACT_SORTS)[number];

/** Checkpoints are artifacts of this type, named after their model. */
export const CHECKPOINT_TYPE = 'lora';

/** An announced version whose files have not all arrived. The finished version will have the same id. */
export interface ArtifactDraft extends ArtifactName {
  readonly id: string;
  readonly type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly aliases: readonly string[];
  /** The run that logs it, in its project; null if none does. */
  readonly run: string | null;
  /** SHA-256 of the client's list of files; null if the client has not sent one. */
  readonly manifest: string | null;
  readonly createdAtMs: number;
}

/** Content that several versions of one entity may share. */
export interface ArtifactContent {
  readonly entity: string;
  readonly sha256: string;
  /** MD5 in hex, for clients that identify files by it. Null: the version was stored without one, and no client has asked since. */
  readonly md5: string | null;
  readonly sizeBytes: number;
  readonly blob: string;
}

/** `v3` or an alias; null for the latest version. */
export type ArtifactSelector = { readonly version: number } | { readonly alias: string } | null;

export const sizeOf = ({ files }: Pick<ArtifactVersion, 'files'>): number =>
  files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** In a page of versions: a path, a hash and their names for each file. */
export const versionWeight = ({ files }: Pick<ArtifactVersion, 'files'>): number =>
  files.reduce((sum, { path }) => sum + 130 + path.length, 0);
