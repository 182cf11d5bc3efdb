// The contents of a project: types, and for each type the names that have versions of it. Models are listed too, as collections of
// their checkpoints. Does not look into versions.
import type { ArtifactCollection } from '#domain/artifact';
import type { Caller } from '#domain/caller';
import { unknownCursor, type Listing, type Page } from '#domain/page';
import type { CollectionFilter, CollectionPage } from '#storage/artifact-store';
import type { Storage } from '#storage/storage';

/** Of one project. */
const TYPES_MAX = 1_000;

export type ArtifactTypeRow = Omit<ArtifactCollection, 'name'>;

/** Empty for another entity's project. */
export interface ArtifactCollections {
  /** Sorted by name; the next page starts after `collectionCursor` of the last one. */
  collections(caller: Caller, filter: CollectionFilter, page: Page): Promise<Listing<ArtifactCollection>>;
  countCollections(caller: Caller, filter: CollectionFilter): Promise<number>;
  types(caller: Caller, filter: Pick<CollectionFilter, 'entity' | 'project'>): Promise<readonly ArtifactTypeRow[]>;
}

export function createArtifactCollections({ artifacts }: Pick<Storage, 'artifacts'>): ArtifactCollections {
  return {
    async collections(caller, filter, { after, limit }) {
      if (filter.entity !== caller.entity) return { rows: [], hasMore: false };
      return artifacts.listCollections(filter, { after: after === null ? null : readCursor(after), limit });
    },
    countCollections: async (caller, filter) =>
      filter.entity === caller.entity ? artifacts.countCollections(filter) : 0,
    types: async (caller, filter) => (filter.entity === caller.entity ? artifacts.listTypes(filter, TYPES_MAX) : []),
  };
}

export const collectionCursor = ({ name, type }: ArtifactCollection): string => JSON.stringify([name, type]);

function readCursor(text: string): CollectionPage['after'] {
  try {
    const [name, type] = JSON.parse(text) as unknown[];
    if (typeof name === 'string' && typeof type === 'string') return { name, type };
  } catch {
    // below
  }
  throw unknownCursor(text);
}
