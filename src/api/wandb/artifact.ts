// A version of an artifact as the library reads it: of a stored artifact, or a checkpoint of a model. Fields that require reading the
// files are resolved only if they are requested.
import { base64OfHex, manifestDigest } from '#base/manifest-digest';
import { sizeOf, type ArtifactName, type ArtifactVersion } from '#domain/artifact';
import { AppError } from '#domain/errors';
import type { ArtifactUse, RunName } from '#domain/run';
import type { OpenArtifact } from '#services/artifacts/artifact-content';
import { time, type RequestContext } from './request-context.ts';
import { fileLink, manifestLink } from './file-link.ts';
import { directionOf } from './list-arguments.ts';
import { entityFields, projectNumber } from './names.ts';
import { runFields } from './run.ts';

/** Maximum page size, for versions and names. */
const PAGE_MAX = 50;
const FILES_MAX = 5_000;

export interface PageArguments {
  readonly after?: string | null;
  readonly first?: number | null;
}

export function artifactFields(context: RequestContext, found: OpenArtifact) {
  const { artifact, isLatest } = found;
  const { id, entity, project, name, version, type, metadata, files, createdAtMs } = artifact;
  context.budget.files.spend(files.length);
  const collection = collectionFields(context, { entity, project, name }, type);
  return {
    __typename: 'Artifact',
    id,
    artifactSequence: collection,
    versionIndex: version,
    artifactType: { id: type, name: type, description: null, createdAt: null },
    description: null,
    metadata: () => JSON.stringify(metadata),
    ttlDurationSeconds: -2, // the library's value for "none"
    ttlIsInherited: true,
    tags: [],
    historyStep: null,
    state: 'COMMITTED',
    size: sizeOf(artifact),
    async digest() {
      context.budget.files.spend(files.length);
      return manifestDigest(await found.md5s());
    },
    digestAlgorithm: 'MANIFEST_MD5',
    commitHash: null,
    fileCount: files.length,
    createdAt: time(createdAtMs),
    updatedAt: null,
    aliases: aliasesOf(artifact, isLatest).map((alias) => ({
      ...aliasFields(id, alias),
      artifactCollection: collection,
    })),
    currentManifest: async () => ({
      id,
      file: { id, directUrl: (await context.fileUrls())(manifestLink(id)) },
    }),
    files: (page: FileArguments) => filesPage(context, found, page),
    createdBy: async () => (await runsOf(context, id, 'logged'))[0] ?? null,
    usedBy: async () => connection((await runsOf(context, id, 'used')).map((run) => ({ node: run, cursor: run.id }))),
    artifactMemberships: () => ({ edges: [{ node: membershipFields(context, found) }] }),
  };
}

const aliasesOf = ({ aliases }: ArtifactVersion, isLatest: boolean): string[] => [
  ...new Set([...(isLatest ? ['latest'] : []), ...aliases]),
];

const aliasFields = (id: string, alias: string) => ({ __typename: 'ArtifactAlias', id: `${id}:${alias}`, alias });

async function runsOf(context: RequestContext, artifactId: string, how: ArtifactUse) {
  const runs = await context.services.runs.runsOf(context.caller, artifactId, how);
  return runs.map((run) => runFields(context, run));
}

export const pageInfo = (endCursor: string | null, hasNextPage: boolean) => ({
  __typename: 'PageInfo',
  endCursor,
  hasNextPage,
});

export const connection = <T>(edges: readonly T[]) => ({
  edges,
  totalCount: edges.length,
  pageInfo: pageInfo(null, false),
});

/** The artifacts that a run logged or used, oldest first, without deleted ones. */
export const artifactsOfRun = (context: RequestContext, run: RunName) => {
  const list = (how: ArtifactUse) => async () => {
    const { caller, services } = context;
    const found: OpenArtifact[] = [];
    for (const id of await services.runs.artifactsOf(caller, run, how)) {
      const artifact = await services.artifacts.look(caller, { id });
      if (artifact) found.push(artifact);
    }
    found.sort((a, b) => a.artifact.createdAtMs - b.artifact.createdAtMs || a.artifact.version - b.artifact.version);
    return connection(found.map((each) => ({ node: artifactFields(context, each), cursor: each.artifact.id })));
  };
  return { inputArtifacts: list('used'), outputArtifacts: list('logged') };
};

export interface FileArguments extends PageArguments {
  /** Null: all. */
  readonly names?: readonly string[] | null;
}

async function filesPage(context: RequestContext, found: OpenArtifact, { after, first, names }: FileArguments) {
  const { id, files, createdAtMs } = found.artifact;
  const wanted = names ? new Set(names) : null;
  const asked = wanted ? files.filter(({ path }) => wanted.has(path)) : files;
  const from = after ? Number(after) : 0;
  const page = asked.slice(from, from + Math.min(first ?? FILES_MAX, FILES_MAX));
  context.budget.items(page.length);
  const url = await context.fileUrls();
  const next = from + page.length;
  let reading: ReturnType<OpenArtifact['md5s']> | null = null;
  const md5s = () => {
    if (!reading) context.budget.files.spend(files.length);
    return (reading ??= found.md5s());
  };
  return {
    totalCount: asked.length,
    edges: page.map(({ path, sizeBytes }) => {
      const directUrl = () => url(fileLink(id, path));
      const md5 = async () => base64OfHex((await md5s()).get(path) ?? '');
      const about = { id: path, name: path, displayName: path, storagePath: path, mimetype: null, sizeBytes };
      const node = {
        __typename: 'File',
        ...about,
        updatedAt: time(createdAtMs),
        directUrl,
        url: directUrl,
        md5,
        digest: md5,
      };
      return { node, cursor: String(next) };
    }),
    pageInfo: pageInfo(String(next), next < asked.length),
  };
}

export const membershipFields = (context: RequestContext, found: OpenArtifact) => {
  const artifact = artifactFields(context, found);
  const { id, versionIndex, createdAt, aliases, artifactSequence, files } = artifact;
  return {
    __typename: 'ArtifactCollectionMembership',
    ...{ id, versionIndex, createdAt, aliases, files },
    artifactCollection: artifactSequence,
    artifact,
  };
};

export const upTo = (first: number | null | undefined): number => Math.min(Math.max(first ?? PAGE_MAX, 1), PAGE_MAX);

/** A name with its versions of a type, even if it has none; the creation time exists only if it has some. */
export function collectionFields(context: RequestContext, { entity, project, name }: ArtifactName, type: string) {
  const number = projectNumber(entity, project);
  return {
    __typename: 'ArtifactSequence',
    id: JSON.stringify([project, name, type]),
    name,
    description: null,
    async createdAt() {
      const of = { entity, project, name, type };
      const { rows } = await context.services.artifacts.collections(context.caller, of, { after: null, limit: 1 });
      if (rows[0]) return time(rows[0].createdAtMs);
      throw new AppError('artifact_not_found', `No artifact ${entity}/${project}/${name} of the type ${type}.`);
    },
    updatedAt: null,
    project: { id: number, internalId: number, name: project, entityName: entity, entity: entityFields(entity) },
    defaultArtifactType: { id: type, name: type, description: null, createdAt: null },
    tags: { edges: [] },
    state: 'READY',
    artifactMembership: async ({ aliasName }: { aliasName: string }) => {
      const found = await context.services.artifacts.look(context.caller, {
        entity,
        project,
        name,
        version: aliasName,
      });
      return found && membershipFields(context, found);
    },
    /** The aliases of each version of a page. */
    async aliases({ after }: PageArguments) {
      const of = { entity, project, name };
      const page = { after: after ?? null, limit: PAGE_MAX };
      const { rows, hasMore } = await context.services.artifacts.versions(context.caller, of, page, 'desc');
      const ofType = rows.filter(({ artifact }) => artifact.type === type);
      return {
        pageInfo: pageInfo(rows.at(-1)?.artifact.id ?? null, hasMore),
        edges: ofType.flatMap(({ artifact, isLatest }) =>
          aliasesOf(artifact, isLatest).map((alias) => ({ node: aliasFields(artifact.id, alias) })),
        ),
      };
    },
    async artifacts({ after, first, order, filters }: PageArguments & { order?: string; filters?: string }) {
      if (!/^(?:\{\}|\{"state": ?"COMMITTED"\})?$/.test(filters ?? ''))
        throw new AppError('invalid_request', 'Filters of artifacts are not supported. Leave them out.');
      const page = { after: after ?? null, limit: upTo(first) };
      const direction = directionOf(order);
      const { rows, hasMore } = await context.services.artifacts.versions(
        context.caller,
        { entity, project, name },
        page,
        direction,
      );
      const ofType = rows.filter(({ artifact }) => artifact.type === type);
      return {
        totalCount: () => context.services.artifacts.countVersions(context.caller, { entity, project, name }),
        pageInfo: pageInfo(rows.at(-1)?.artifact.id ?? null, hasMore),
        edges: ofType.map((row) => ({
          version: `v${row.artifact.version}`,
          node: artifactFields(context, row),
          cursor: row.artifact.id,
        })),
      };
    },
  };
}

export const artifactById = async (context: RequestContext, id: string) => {
  const found = await context.services.artifacts.look(context.caller, { id });
  return found && artifactFields(context, found);
};
