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

/** Bytes that versions of one entity share. */
export interface ArtifactContent {
  readonly entity: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly blob: string;
}

/** `v3`, an alias, or null for the latest. */
export type ArtifactSelector = { readonly version: number } | { readonly alias: string } | null;

export const sizeOf = ({ files }: Pick<ArtifactVersion, 'files'>): number =>
  files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
