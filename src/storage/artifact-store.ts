// Rows of artifacts: contents (bytes by hash, shared inside an entity), versions, aliases. Part of storage.ts.
import type { ArtifactContent, ArtifactName, ArtifactSelector, ArtifactVersion } from '#domain/artifact';
import type { Listing, Page } from '#domain/page';

export type NewArtifact = Omit<ArtifactVersion, 'version' | 'aliases'>;

export type CreateOutcome =
  | { readonly outcome: 'created' | 'exists'; readonly artifact: ArtifactVersion }
  /** Files whose content is not there: nothing was made. */
  | { readonly outcome: 'missing'; readonly sha256: readonly string[] };

export interface ArtifactFilter {
  readonly entity: string;
  readonly project?: string;
  readonly name?: string;
  readonly type?: string;
}

export interface ArtifactStore {
  /** Gives what is there under (entity, sha256), now or before; its use is put off until `usedAtMs`. */
  addContent(content: ArtifactContent, usedAtMs: number): Promise<ArtifactContent>;
  /** Marks it as used, so that no clean-up takes it before a version refers to it. Null when there is none. */
  touchContent(entity: string, sha256: string, usedAtMs: number): Promise<ArtifactContent | null>;
  findContent(entity: string, sha256: string): Promise<ArtifactContent | null>;
  /**
   * Contents that no version refers to and that were last used before then; of all, or of those that an entity names. Gives
   * their blobs, which are the caller's to delete.
   */
  removeUnused(
    usedBeforeMs: number,
    only?: { readonly entity: string; readonly sha256: readonly string[] },
  ): Promise<readonly string[]>;

  /** The next version; or the latest, where it has the same digest or id. The aliases then name it and nothing else. */
  create(artifact: NewArtifact, aliases: readonly string[]): Promise<CreateOutcome>;
  find(name: ArtifactName, selector: ArtifactSelector): Promise<ArtifactVersion | null>;
  exists(name: ArtifactName): Promise<boolean>;
  /** In order of creation. */
  list(filter: ArtifactFilter, page: Page): Promise<Listing<ArtifactVersion>>;
  /** These and no others; taken from other versions of the name. False: it is gone. */
  setAliases(id: string, aliases: readonly string[]): Promise<boolean>;
  /** Idempotent: whether it was there. */
  delete(id: string): Promise<boolean>;
}
