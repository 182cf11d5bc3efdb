// Rows of artifacts: contents (bytes by hash, shared within an entity), versions, aliases. Part of storage.ts.
import type {
  ArtifactCollection,
  ArtifactContent,
  ArtifactDraft,
  ArtifactName,
  ArtifactSelector,
  ArtifactSort,
  ArtifactVersion,
} from '#domain/artifact';
import type { Listing, Order, Page } from '#domain/page';
import type { Payer } from './account-store.ts';

export type NewArtifact = Omit<ArtifactVersion, 'version' | 'aliases'>;

export type CreateOutcome =
  | { readonly outcome: 'created' | 'exists'; readonly artifact: ArtifactVersion }
  /** The content of these files is missing; nothing was created. */
  | { readonly outcome: 'missing'; readonly sha256: readonly string[] }
  /** The payer may not store these rows; nothing was created. */
  | { readonly outcome: 'over_limit' };

export interface ArtifactFilter {
  readonly entity: string;
  readonly project?: string;
  readonly name?: string;
  readonly type?: string;
}

export interface CollectionFilter {
  readonly entity: string;
  readonly project: string;
  readonly name?: string;
  readonly type?: string;
}

/** The version that the client saw last. It may have been deleted. */
export interface CollectionPage {
  readonly after: Pick<ArtifactCollection, 'name' | 'type'> | null;
  readonly limit: number;
}

export interface ArtifactStore {
  /**
   * Returns the content stored under (entity, sha256), existing or new, and marks it as just used. New content is charged to the payer;
   * if that would exceed a limit, nothing is noted.
   */
  addContent(content: ArtifactContent, payer: Payer, usedAtMs: number): Promise<ArtifactContent | 'over_limit'>;
  /** Marks existing contents as used, so that no clean-up removes them before a version refers to them, and returns them. */
  touchContents(entity: string, sha256: readonly string[], usedAtMs: number): Promise<readonly ArtifactContent[]>;
  findContent(entity: string, sha256: string): Promise<ArtifactContent | null>;
  /** Those that exist, in no particular order. */
  findContents(entity: string, by: 'sha256' | 'md5', hashes: readonly string[]): Promise<readonly ArtifactContent[]>;
  setMd5(entity: string, sha256: string, md5: string): Promise<void>;
  /**
   * Removes contents that no version refers to and that were last used before then; of all entities, or those that one entity names.
   * Returns their blobs, which the caller must delete.
   */
  removeUnused(
    usedBeforeMs: number,
    only?: { readonly entity: string; readonly sha256: readonly string[] },
  ): Promise<readonly string[]>;

  /** Creates the next version, or returns the latest if it has the same digest or id. Sets exactly these aliases. Rows are charged to the payer. */
  create(artifact: NewArtifact, aliases: readonly string[], payer: Payer): Promise<CreateOutcome>;
  find(name: ArtifactName, selector: ArtifactSelector): Promise<ArtifactVersion | null>;
  findById(id: string): Promise<ArtifactVersion | null>;
  exists(name: ArtifactName): Promise<boolean>;
  /** Counts only as far as `most`. */
  count(filter: ArtifactFilter, most?: number): Promise<number>;
  /** In order of creation unless `sort` says otherwise; `desc` turns the order round. */
  list(filter: ArtifactFilter, page: Page, order?: Order, sort?: ArtifactSort): Promise<Listing<ArtifactVersion>>;
  /** Artifact names of a project by type, models included; sorted by name, then type. */
  listCollections(filter: CollectionFilter, page: CollectionPage): Promise<Listing<ArtifactCollection>>;
  countCollections(filter: CollectionFilter): Promise<number>;
  /** Types of a project by name, each with the time of its first version. */
  listTypes(
    filter: Pick<CollectionFilter, 'entity' | 'project'>,
    limit: number,
  ): Promise<readonly Omit<ArtifactCollection, 'name'>[]>;

  /** Sets exactly these aliases, and removes them from other versions of the name. False: the version was deleted. */
  setAliases(id: string, aliases: readonly string[]): Promise<boolean>;
  /** Also updates the digest. False: the version was deleted. */
  setMetadata(id: string, metadata: Readonly<Record<string, unknown>>, digest: string): Promise<boolean>;
  /** Takes its rows off the account. Idempotent; returns whether it existed. */
  delete(id: string): Promise<boolean>;

  /** Replaces the draft with the same id. Charged like the version that it will become. */
  putDraft(draft: ArtifactDraft, payer: Payer): Promise<'stored' | 'over_limit'>;
  findDraft(id: string): Promise<ArtifactDraft | null>;
  /** One draft, or those begun before then. What did not become a version is taken off the account. */
  removeDrafts(which: { readonly id: string } | { readonly createdBeforeMs: number }): Promise<void>;
}
