// Artifacts of a project as the library queries them: one artifact by `name:version` (the latest without a version), and lists of its
// types and names. Models appear as artifacts of type `lora`.
import { Kind, type GraphQLResolveInfo } from 'graphql';
import { AppError } from '#domain/errors';
import type { ArtifactCollection, ArtifactName } from '#domain/artifact';
import { collectionCursor, type ArtifactTypeRow } from '#services/artifacts/collections';
import {
  artifactFields,
  collectionFields,
  connection,
  membershipFields,
  pageInfo,
  upTo,
  type PageArguments,
} from './artifact.ts';
import { readTexts } from './names.ts';
import { time, type RequestContext } from './request-context.ts';

export interface ListArguments extends PageArguments {
  readonly order?: string | null;
  readonly filters?: string | null;
}

export interface Named {
  readonly name: string;
}

const ONE = { after: null, limit: 1 };

/** A type that does not exist is null, which the library reports as not found; a list of its names is empty, because it cannot read null there. */
const selects = ({ fieldNodes }: GraphQLResolveInfo, lists: readonly string[]): boolean =>
  fieldNodes.some(({ selectionSet }) =>
    selectionSet?.selections.some((each) => each.kind === Kind.FIELD && lists.includes(each.name.value)),
  );

export const artifactsOfProject = (context: RequestContext, entity: string, project: string) => {
  const { caller, services } = context;
  const look = ({ name: text }: Named) => {
    const [name = '', version = null, ...rest] = text.split(':');
    if (rest.length > 0) throw new AppError('invalid_request', 'An artifact must be given as name or name:version.');
    return services.artifacts.look(caller, { entity, project, name, version });
  };

  /** Null: nothing has this name. */
  async function collection(name: string) {
    const newest = await services.artifacts.look(caller, { entity, project, name, version: null });
    return newest && collectionFields(context, { entity, project, name }, newest.artifact.type);
  }

  async function collectionOfType(name: string, type: string) {
    const { rows } = await services.artifacts.collections(caller, { entity, project, name, type }, ONE);
    return rows[0] ? listedCollection(rows[0]) : null;
  }

  const collections =
    (type?: string) =>
    async ({ after, first, order, filters }: ListArguments) => {
      if ((filters ?? '{}') !== '{}' || order)
        throw new AppError('invalid_request', 'Filters and order of artifacts are not supported. Leave them out.');
      const of = { entity, project, ...(type === undefined ? {} : { type }) };
      const page = { after: after || null, limit: upTo(first) };
      const { rows, hasMore } = await services.artifacts.collections(caller, of, page);
      const last = rows.at(-1);
      return {
        totalCount: () => services.artifacts.countCollections(caller, of),
        pageInfo: pageInfo(last ? collectionCursor(last) : null, hasMore),
        edges: rows.map((row) => ({ node: listedCollection(row), cursor: collectionCursor(row) })),
      };
    };

  const listedCollection = (row: ArtifactCollection) => ({
    ...collectionFields(context, { entity, project, name: row.name }, row.type),
    createdAt: time(row.createdAtMs),
  });

  const typeFields = (type: string) => ({
    __typename: 'ArtifactType',
    id: type,
    name: type,
    description: null,
    async artifact(which: Named) {
      const found = await look(which);
      return found?.artifact.type === type ? artifactFields(context, found) : null;
    },
    artifactCollection: async ({ name }: Named, _: unknown, info: GraphQLResolveInfo) =>
      (await collectionOfType(name, type)) ??
      (selects(info, ['artifacts']) ? collectionFields(context, { entity, project, name }, type) : null),
    artifactCollections: collections(type),
  });

  const listedType = ({ type, createdAtMs }: ArtifactTypeRow) => ({
    ...typeFields(type),
    createdAt: time(createdAtMs),
  });

  return {
    artifact: async (which: { name: string }) => {
      const found = await look(which);
      return found && artifactFields(context, found);
    },
    artifactCollectionMembership: async (which: { name: string }) => {
      const found = await look(which);
      return found && membershipFields(context, found);
    },
    artifactCollection: ({ name }: Named) => collection(name),
    artifactCollections: collections(),
    async artifactTypes() {
      const types = await services.artifacts.types(caller, { entity, project });
      return connection(types.map((each) => ({ node: listedType(each), cursor: each.type })));
    },
    async artifactType({ name: type }: Named, _: unknown, info: GraphQLResolveInfo) {
      const types = await services.artifacts.types(caller, { entity, project });
      const found = types.find((each) => each.type === type);
      if (found) return listedType(found);
      return selects(info, ['artifact', 'artifactCollection', 'artifactCollections']) ? typeFields(type) : null;
    },
  };
};

/** By the id in its fields; null: not a valid id. */
export function collectionById(context: RequestContext, id: string) {
  const named = readId(id);
  return named && collectionFields(context, { ...named, entity: context.caller.entity }, named.type);
}

function readId(id: string): (Omit<ArtifactName, 'entity'> & { type: string }) | null {
  const [project, name, type] = readTexts(id);
  return project !== undefined && name !== undefined && type !== undefined ? { project, name, type } : null;
}
