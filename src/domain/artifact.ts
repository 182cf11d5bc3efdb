// A named thing in a project that is stored in versions: training data, adapters. A version never changes; which version
// an alias names may.

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
  /** 0, 1, 2, … in order of creation; the number of a deleted version is not used again while later ones exist. */
  readonly version: number;
  /** `dataset`, `lora`, … */
  readonly type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Own names, sorted; `latest` is not among them: it follows from the numbers. */
  readonly aliases: readonly string[];
  /** By path. */
  readonly files: readonly ArtifactFile[];
  /** Of type, metadata and files: equal digests mean equal content. */
  readonly digest: string;
  readonly createdAtMs: number;
}

/**
 * Rounded up from what 20,000 rows took in SQLite: 280 for a version, 260 and twice its path for a file, 160 for an alias; indexes
 * repeat the path, the hash and the names. Not in it: the row of a content, another 280, which all files that are equal share.
 */
const VERSION_BYTES = 500;
const FILE_BYTES = 300;
const ALIAS_BYTES = 300;

/** What the rows of a version take in the database, about. */
export const rowBytes = ({ metadata, files }: Pick<ArtifactVersion, 'metadata' | 'files'>, aliases: number): number =>
  files.reduce(
    (sum, { path }) => sum + FILE_BYTES + 2 * Buffer.byteLength(path),
    VERSION_BYTES + Buffer.byteLength(JSON.stringify(metadata)) + aliases * ALIAS_BYTES,
  );

/** The versions of one name that have one type: of artifacts, or the checkpoints of a model. */
export interface ArtifactCollection {
  readonly name: string;
  readonly type: string;
  /** When its first version that is still there was made; a model, when it was registered. */
  readonly createdAtMs: number;
}

/** Checkpoints are artifacts of this type, under the name of their model. */
export const CHECKPOINT_TYPE = 'lora';

/** Announced, until its files are there. Its id is the version's to come. */
export interface ArtifactDraft extends ArtifactName {
  readonly id: string;
  readonly type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly aliases: readonly string[];
  /** The run that logs it, in its project; null: none. */
  readonly run: string | null;
  /** SHA-256 of the list of its files, as its client sent it; null: it has not. */
  readonly manifest: string | null;
  readonly createdAtMs: number;
}

/** Bytes that versions of one entity share. */
export interface ArtifactContent {
  readonly entity: string;
  readonly sha256: string;
  /** Hex, for clients that name files by it. Null: stored by a version that had none, and not asked for since. */
  readonly md5: string | null;
  readonly sizeBytes: number;
  readonly blob: string;
}

/** `v3`, an alias, or null for the latest. */
export type ArtifactSelector = { readonly version: number } | { readonly alias: string } | null;

export const sizeOf = ({ files }: Pick<ArtifactVersion, 'files'>): number =>
  files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
