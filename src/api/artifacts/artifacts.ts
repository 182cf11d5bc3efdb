// The artifact store over HTTP. A file uploaded under a name becomes a version of its own; to combine several files, they are
// uploaded under `name:draft`, and a manifest then creates one version of them. Versions never change.
import { Readable } from 'node:stream';
import { z } from 'zod';
import { ARTIFACT_SORTS } from '#domain/artifact';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { NamedVersion } from '#services/artifacts/artifact-name';
import type { Committed } from '#services/artifacts/artifacts';
import type { ApiServices } from '../http/api-services.ts';
import { declaredBytes } from '../http/declared-bytes.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { answerWithFile } from '../http/file-answer.ts';
import {
  alias,
  artifactList,
  artifactResponse,
  artifactSegment,
  changedArtifact,
  deletedArtifacts,
  filePath,
  fileQuery,
  manifest,
  missingFiles,
  newAliases,
  toArtifactResponse,
  uploadedFile,
} from './artifact.ts';
import { pageFields, toEnvelope, toPage } from '../http/listing.ts';
import { namedArtifact } from './named-artifact.ts';
import { parse } from '#validation/parse';
import { unknownFields, warned } from '#validation/unknown-fields';

const BASE = '/v1/artifacts/{entity}/{project}/{artifact}';
const DRAFT = 'draft';

const listQuery = z.looseObject({
  ...pageFields,
  project: z.string().optional(),
  name: z.string().optional(),
  type: z.string().optional(),
  sort: z
    .enum(ARTIFACT_SORTS)
    .default('created')
    .describe(
      'What the whole list is sorted by. created: when they were created. name: name, then version. project: project, name, version. files: number of files. size: bytes of all files. Equal ones are in order of creation.',
    ),
  order: z.enum(['asc', 'desc']).default('asc').describe('asc: smallest or oldest first. desc: the other way round.'),
});

export function artifactRoutes({ artifacts }: Pick<ApiServices, 'artifacts'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/artifacts',
      tag: 'Artifacts',
      summary: 'List versions of your artifacts, oldest first unless `sort` or `order` says otherwise',
      access: 'read',
      query: listQuery,
      answer: artifactList,
      async handle({ caller, query }) {
        const { project, name, type, order, sort } = query;
        const filter = {
          ...(project === undefined ? {} : { project }),
          ...(name === undefined ? {} : { name }),
          ...(type === undefined ? {} : { type }),
        };
        const page = toEnvelope(await artifacts.list(caller, filter, toPage(query), order, sort), toArtifactResponse);
        return { ...page, counts: { versions: await artifacts.count(caller, filter) } };
      },
    }),
    endpoint({
      method: 'GET',
      path: BASE,
      tag: 'Artifacts',
      summary:
        'Read a version of an artifact. It is named `name:vN`, `name:alias`, or `name` for the latest; `name:stepN` for a checkpoint of a model. Entity `~` is your own',
      access: 'read',
      errors: [404],
      answer: artifactResponse,
      handle: async ({ caller, params }) =>
        toArtifactResponse((await artifacts.get(caller, namedArtifact(caller, params))).artifact),
    }),
    endpoint({
      method: 'PUT',
      path: BASE,
      tag: 'Artifacts',
      summary:
        'Create a version from uploaded files. Returns 202 with the files that are missing, if any. With `name:version`: set the aliases of that version, instead of those it has',
      access: 'train',
      alsoSucceeds: [201, 202],
      errors: [404, 409],
      body: { schema: manifest, read: (raw) => raw },
      answer: z.union([changedArtifact, missingFiles]),
      async handle({ caller, params, body, reply }) {
        const name = namedArtifact(caller, params);
        if (name.version !== null) {
          const { aliases, ...others } = parse(newAliases, body, 'body');
          const changed = await artifacts.setAliases(caller, name, [...new Set(aliases)]);
          return { ...toArtifactResponse(changed), ...warned(unknownFields(newAliases, others)) };
        }
        const { warnings, ...made } = parse(manifest, body, 'body');
        const committed = await artifacts.commit(caller, checked(name), made);
        reply.code({ created: 201, exists: 200, missing: 202 }[committed.outcome]);
        return committed.outcome === 'missing'
          ? { missing: [...committed.sha256] }
          : { ...toArtifactResponse(committed.artifact), ...warned(warnings) };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: BASE,
      tag: 'Artifacts',
      summary: 'Delete a version; without a version, all versions of the artifact',
      access: 'train',
      errors: [404],
      answer: deletedArtifacts,
      handle: async ({ caller, params }) => ({
        deleted_count: await artifacts.delete(caller, namedArtifact(caller, params)),
      }),
    }),
    endpoint({
      method: 'PUT',
      path: `${BASE}/{path*}`,
      tag: 'Artifacts',
      summary:
        'Upload a file. Under `name`, `name:alias` or `name:vN` (the next version) it becomes a version of its own; under `name:draft` it is stored for a later manifest',
      access: 'train',
      alsoSucceeds: [201],
      errors: [404, 409, 413],
      bodySize: 'file',
      query: fileQuery,
      answer: z.union([artifactResponse, uploadedFile]),
      async handle({ caller, params, query, request, reply }) {
        const name = namedArtifact(caller, params);
        const path = parse(filePath, params.path, 'path');
        const own = await aliasOfNew(artifacts, caller, name);
        const content = (request.body as Readable | undefined) ?? Readable.from([]);
        const file = { content, declaredBytes: declaredBytes(request.headers), sha256: query.sha256 ?? null };
        if (name.version === DRAFT) {
          const stored = await artifacts.upload(caller, checked(name), file);
          return { path, size_bytes: stored.sizeBytes, sha256: stored.sha256 };
        }
        const aliases = [query.alias, own].filter((alias) => alias !== undefined && alias !== null);
        const about = { type: query.type, metadata: {}, aliases: [...new Set(aliases)], path };
        const committed = await artifacts.store(caller, checked(name), about, file);
        reply.code(committed.outcome === 'created' ? 201 : 200);
        return toArtifactResponse(whole(committed));
      },
    }),
    endpoint({
      method: 'GET',
      path: `${BASE}/{path*}`,
      tag: 'Artifacts',
      summary: 'Download a file of a version. A Range header selects a part of it',
      access: 'read',
      alsoSucceeds: [206],
      errors: [404, 416],
      answer: ['application/octet-stream'],
      async handle({ caller, params, request, reply }) {
        const opened = await artifacts.get(caller, namedArtifact(caller, params));
        const path = params.path!;
        const file = opened.artifact.files.find((each) => each.path === path) ?? (await opened.open(path)).file; // open() throws if there is no such file
        const open = async (from: number) => (await opened.open(path, from)).content;
        const about = { contentType: 'application/octet-stream', disposition: 'attachment' };
        return answerWithFile(request, reply, { ...file, name: path, open }, about);
      },
    }),
  ];
}

/** The alias of a new version, in addition to its number. Throws `artifact_conflict` if the name is that of an existing version. */
async function aliasOfNew(
  artifacts: ApiServices['artifacts'],
  caller: Caller,
  name: NamedVersion,
): Promise<string | null> {
  const { version } = name;
  if (version === null || version === DRAFT || version === 'latest') return null;
  const number = /^v(\d+)$/.exec(version)?.[1];
  if (number === undefined) return parse(alias, version, 'path');
  const latest = await artifacts.find(caller, { ...name, version: null });
  const next = (latest?.version ?? -1) + 1;
  if (Number(number) === next) return null;
  throw new AppError(
    'artifact_conflict',
    `Versions never change, and the next of ${name.name} is v${next}. PUT the file there, or without a version.`,
  );
}

/** New names follow stricter rules than the names of models, which can also be read here. */
function checked(name: NamedVersion): NamedVersion {
  parse(artifactSegment, name.project, 'path');
  parse(artifactSegment, name.name, 'path');
  return name;
}

function whole(committed: Committed) {
  if (committed.outcome !== 'missing') return committed.artifact;
  throw new AppError('internal', 'The file was removed while its version was made. Send it again.');
}
