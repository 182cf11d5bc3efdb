// The names and types of artifacts in a project, read from the versions of its artifacts and from its models; not stored separately.
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { CHECKPOINT_TYPE, type ArtifactCollection } from '#domain/artifact';
import type { ArtifactStore, CollectionFilter } from '../artifact-store.ts';
import { toListing } from './listing.ts';
import type { Tables } from './rows.ts';

type CollectionStore = Pick<ArtifactStore, 'listCollections' | 'countCollections' | 'listTypes'>;

interface Row {
  readonly name: string;
  readonly type: string;
  readonly created_at_ms: number | string;
}

export function createCollectionStore(db: Kysely<Tables>): CollectionStore {
  return {
    async listCollections(filter, { after, limit }) {
      const { rows } = await sql<Row>`
        select name, type, min(created_at_ms) as created_at_ms from ${named(filter)}
        ${after === null ? sql`` : sql`where (name, type) > (${after.name}, ${after.type})`}
        group by name, type order by name, type limit ${limit + 1}`.execute(db);
      return toListing(rows, limit, toCollection);
    },

    async countCollections(filter) {
      const { rows } = await sql<{ collections: number | string }>`
        select count(*) as collections from (select distinct name, type from ${named(filter)}) as collections`.execute(
        db,
      );
      return Number(rows[0]!.collections);
    },

    async listTypes(filter, limit) {
      const { rows } = await sql<Omit<Row, 'name'>>`
        select type, min(created_at_ms) as created_at_ms from ${named(filter)} group by type order by type limit ${limit}`.execute(
        db,
      );
      return rows.map(({ type, created_at_ms: createdAtMs }) => ({ type, createdAtMs: Number(createdAtMs) }));
    },
  };
}

/** A row per version and per model. */
function named({ entity, project, name, type }: CollectionFilter): RawBuilder<unknown> {
  const ofName = name === undefined ? sql`` : sql`and name = ${name}`;
  return sql`(
    select name, type, created_at_ms from artifacts
     where entity = ${entity} and project = ${project} ${ofName} ${type === undefined ? sql`` : sql`and type = ${type}`}
    union all
    select name, ${sql.lit(CHECKPOINT_TYPE)}, created_at_ms from models
     where entity = ${entity} and project = ${project} ${ofName} ${type === undefined || type === CHECKPOINT_TYPE ? sql`` : sql`and false`}
  ) as named`;
}

const toCollection = ({ name, type, created_at_ms: createdAtMs }: Row): ArtifactCollection => ({
  name,
  type,
  createdAtMs: Number(createdAtMs),
});
