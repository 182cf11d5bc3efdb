// Rows of artifacts: contents (bytes by hash, shared inside an entity), versions, aliases. Part of storage.ts.
import type {
  ArtifactCollection,
  ArtifactContent,
  ArtifactDraft,
  ArtifactName,
  ArtifactSelector,
  ArtifactVersion,
} from '#domain/artifact';
import type { Listing, Order, Page } from '#domain/page';
import type { Payer } from './account-store.ts';

export type NewArtifact = Omit<ArtifactVersion, 'version' | 'aliases'>;

export type CreateOutcome =
  | { readonly outcome: 'created' | 'exists'; readonly artifact: ArtifactVersion }
  /** Files whose content is not there: nothing was made. */
  | { readonly outcome: 'missing'; readonly sha256: readonly string[] }
  /** The payer may not store its rows: nothing was made. */
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

/** One that was seen last. It need not be there any more. */
export interface CollectionPage {
  readonly after: Pick<ArtifactCollection, 'name' | 'type'> | null;
  readonly limit: number;
}

export interface ArtifactStore {
  /**
   * Gives what is there under (entity, sha256), now or before, and marks it as used then. What is new is charged; where that is
   * over a limit of the payer, nothing is noted.
   */
  addContent(content: ArtifactContent, payer: Payer, usedAtMs: number): Promise<ArtifactContent | 'over_limit'>;
  /** Marks those that are there as used, so that no clean-up takes them before a version refers to them, and gives them. */
  touchContents(entity: string, sha256: readonly string[], usedAtMs: number): Promise<readonly ArtifactContent[]>;
  findContent(entity: string, sha256: string): Promise<ArtifactContent | null>;
  /** Those that are there, in no order. */
  findContents(entity: string, by: 'sha256' | 'md5', hashes: readonly string[]): Promise<readonly ArtifactContent[]>;
  setMd5(entity: string, sha256: string, md5: string): Promise<void>;
  /**
   * Contents that no version refers to and that were last used before then; of all, or of those that an entity names. Gives
   * their blobs, which are the caller's to delete.
   */
  removeUnused(
    usedBeforeMs: number,
    only?: { readonly entity: string; readonly sha256: readonly string[] },
  ): Promise<readonly string[]>;

  /** The next version; or the latest, where it has the same digest or id. The aliases then name it and nothing else. Rows are charged. */
  create(artifact: NewArtifact, aliases: readonly string[], payer: Payer): Promise<CreateOutcome>;
  find(name: ArtifactName, selector: ArtifactSelector): Promise<ArtifactVersion | null>;
  findById(id: string): Promise<ArtifactVersion | null>;
  exists(name: ArtifactName): Promise<boolean>;
  /** Versions of a name. */
  count(name: ArtifactName): Promise<number>;
  /** In order of creation, or from the newest on. */
  list(filter: ArtifactFilter, page: Page, order?: Order): Promise<Listing<ArtifactVersion>>;
  /** Names of a project by type, models among them; by name, then type. */
  listCollections(filter: CollectionFilter, page: CollectionPage): Promise<Listing<ArtifactCollection>>;
  countCollections(filter: CollectionFilter): Promise<number>;
  /** Types of a project by name, each with when its first version was made. */
  listTypes(
    filter: Pick<CollectionFilter, 'entity' | 'project'>,
    limit: number,
  ): Promise<readonly Omit<ArtifactCollection, 'name'>[]>;

  /** These and no others; taken from other versions of the name. False: it is gone. */
  setAliases(id: string, aliases: readonly string[]): Promise<boolean>;
  /** With the digest that follows from it. False: it is gone. */
  setMetadata(id: string, metadata: Readonly<Record<string, unknown>>, digest: string): Promise<boolean>;
  /** Its rows are taken off the account. Idempotent: whether it was there. */
  delete(id: string): Promise<boolean>;

  /** In the place of what has its id. Charged, as its version will be. */
  putDraft(draft: ArtifactDraft, payer: Payer): Promise<'stored' | 'over_limit'>;
  findDraft(id: string): Promise<ArtifactDraft | null>;
  /** One, or those that were begun before then. What has become no version is taken off the account. */
  removeDrafts(which: { readonly id: string } | { readonly createdBeforeMs: number }): Promise<void>;
}
