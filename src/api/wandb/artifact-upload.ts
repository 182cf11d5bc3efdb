// How the library logs and changes an artifact: creation, files, manifest, commit; aliases, metadata, deletion.
import { AppError } from '#domain/errors';
import { isClientAlias } from '#services/artifacts/artifact-name';
import { artifactFields, connection } from './artifact.ts';
import type { RequestContext } from './request-context.ts';
import { putLink, putManifestLink } from './file-link.ts';

const ALIASES_MAX = 32;
const METADATA_CHARACTERS_MAX = 32_768;
const FILES_AT_ONCE_MAX = 10_000;
const CLIENT_ID_MAX = 500;

interface CreateArtifactInput {
  readonly entityName?: string | null;
  readonly projectName: string;
  readonly runName?: string | null;
  readonly artifactTypeName: string;
  readonly artifactCollectionName?: string | null;
  readonly artifactCollectionNames?: readonly string[] | null;
  readonly digest: string;
  readonly digestAlgorithm?: string | null;
  readonly aliases?: readonly { readonly alias: string }[] | null;
  readonly metadata?: string | null;
  readonly clientID: string;
  readonly distributedID?: string | null;
  readonly tags?: readonly unknown[] | null;
  readonly ttlDurationSeconds?: number | null;
}

const refused = (message: string, param: string) => new AppError('invalid_request', message, { param });

export async function createArtifact(context: RequestContext, input: CreateArtifactInput) {
  const { caller, services } = context;
  const name = input.artifactCollectionName ?? input.artifactCollectionNames?.[0];
  if (!name) throw refused('An artifact needs a name.', 'artifactCollectionName');
  if ((input.digestAlgorithm ?? 'MANIFEST_MD5') !== 'MANIFEST_MD5')
    throw refused('Only MANIFEST_MD5 is supported.', 'digestAlgorithm');
  if (input.distributedID)
    throw refused('Several processes cannot fill one artifact (upsert_artifact). Log it from one.', 'distributedID');
  refuseUnkept(input);
  if (input.clientID.length > CLIENT_ID_MAX)
    throw refused(`clientID has more than ${CLIENT_ID_MAX} characters.`, 'clientID');
  const begun = await services.artifactDrafts.begin(caller, {
    entity: input.entityName || caller.entity,
    project: input.projectName,
    name,
    type: input.artifactTypeName,
    run: input.runName || null,
    metadata: readMetadata(input.metadata),
    aliases: checkAliases((input.aliases ?? []).map(({ alias }) => alias)),
    digest: input.digest,
    clientId: input.clientID,
  });
  if (begun.outcome === 'committed') {
    const fields = artifactFields(context, begun.artifact);
    return {
      artifact: { ...fields, artifactSequence: { ...fields.artifactSequence, latestArtifact: { id: fields.id } } },
    };
  }
  const latest = begun.latest && { id: begun.latest.artifact.id };
  return { artifact: { id: begun.id, state: 'PENDING', artifactSequence: { id: name, name, latestArtifact: latest } } };
}

/** Descriptions of new artifacts are not kept either, but change nothing. */
function refuseUnkept({
  tags,
  ttlDurationSeconds: ttl,
}: Pick<CreateArtifactInput, 'tags' | 'ttlDurationSeconds'>): void {
  if (tags?.length) throw refused('Whetstone does not store tags of artifacts. Use aliases.', 'tags');
  if (ttl && ttl > 0) throw refused('Artifacts have no time to live here. Delete them yourself.', 'ttlDurationSeconds');
}

function readMetadata(text: string | null | undefined): Readonly<Record<string, unknown>> {
  if (!text) return {};
  if (text.length > METADATA_CHARACTERS_MAX)
    throw refused(
      `The metadata of an artifact may have at most ${METADATA_CHARACTERS_MAX} characters of JSON.`,
      'metadata',
    );
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
  } catch {
    // below
  }
  throw refused('The metadata of an artifact must be a JSON object, without NaN and Infinity.', 'metadata');
}

/** `latest` is updated automatically. */
function checkAliases(aliases: readonly string[]): readonly string[] {
  const own = [...new Set(aliases)].filter((alias) => alias !== 'latest');
  if (own.length > ALIASES_MAX) throw refused(`An artifact may have at most ${ALIASES_MAX} aliases.`, 'aliases');
  const bad = own.find((alias) => !isClientAlias(alias));
  if (bad === undefined) return own;
  throw refused(
    `${JSON.stringify(bad.slice(0, 200))} is not a valid alias: use 1 to 128 letters, digits, dots, dashes or underscores, and not vN.`,
    'aliases',
  );
}

/** As the library names it. */
const MANIFEST_NAME = 'wandb_manifest.json';

interface ManifestInput {
  readonly artifactID: string;
  readonly type?: string | null;
}

/** A list of changes would make an artifact of only the changed files. */
export async function createArtifactManifest(context: RequestContext, { artifactID, type }: ManifestInput) {
  if (type && type !== 'FULL')
    throw refused(
      `An artifact needs the list of all its files, not one of changes (${type}). Log it without incremental=True.`,
      'type',
    );
  const url = await context.fileUrls();
  const uploadUrl = url(putManifestLink(artifactID));
  const file = { id: artifactID, name: MANIFEST_NAME, uploadUrl, uploadHeaders: [], directUrl: null };
  return { artifactManifest: { id: artifactID, file } };
}

interface FileSpec {
  readonly artifactID: string;
  readonly name: string;
  readonly md5: string;
}

export async function createArtifactFiles(
  context: RequestContext,
  { artifactFiles }: { artifactFiles: readonly FileSpec[] },
) {
  if (artifactFiles.length > FILES_AT_ONCE_MAX)
    throw refused(`Announce at most ${FILES_AT_ONCE_MAX} files at once.`, 'artifactFiles');
  const md5s = artifactFiles.map(({ md5 }) => Buffer.from(md5, 'base64').toString('hex'));
  if (md5s.some((md5) => md5.length !== 32)) throw refused('The MD5 of a file must be 16 bytes in base64.', 'md5');
  const url = await context.fileUrls();
  const known = new Map<string, ReadonlySet<string>>();
  for (const id of new Set(artifactFiles.map(({ artifactID }) => artifactID)))
    known.set(id, await context.services.artifactDrafts.known(context.caller, id, md5s));
  return {
    files: connection(
      artifactFiles.map(({ artifactID, name }, at) => ({
        node: {
          id: name,
          name,
          storagePath: name,
          uploadUrl: known.get(artifactID)!.has(md5s[at]!) ? null : url(putLink(artifactID, md5s[at]!)),
          uploadHeaders: [],
          uploadMultipartUrls: null,
          artifact: { id: artifactID },
        },
      })),
    ),
  };
}

export async function commitArtifact(context: RequestContext, { artifactID }: { artifactID: string }) {
  const committed = await context.services.artifactDrafts.commit(context.caller, artifactID);
  return { artifact: artifactFields(context, committed) };
}

interface AliasesInput {
  readonly artifactID: string;
  readonly aliases: readonly { readonly alias: string }[];
}

export async function addAliases({ caller, services }: RequestContext, { artifactID, aliases }: AliasesInput) {
  await services.artifacts.addAliases(caller, artifactID, checkAliases(aliases.map(({ alias }) => alias)));
  return { success: true };
}

export async function deleteAliases({ caller, services }: RequestContext, { artifactID, aliases }: AliasesInput) {
  const names = aliases.map(({ alias }) => alias);
  await services.artifacts.removeAliases(caller, artifactID, names);
  return { success: true };
}

interface UpdateArtifactInput {
  readonly artifactID: string;
  readonly description?: string | null;
  readonly metadata?: string | null;
  readonly tagsToAdd?: readonly unknown[] | null;
  readonly ttlDurationSeconds?: number | null;
}

/** Null leaves the metadata unchanged. */
export async function updateArtifact(
  context: RequestContext,
  { artifactID, description, metadata, tagsToAdd, ttlDurationSeconds }: UpdateArtifactInput,
) {
  if (description) throw refused('Whetstone does not store descriptions of artifacts. Use metadata.', 'description');
  refuseUnkept({ tags: tagsToAdd ?? null, ttlDurationSeconds: ttlDurationSeconds ?? null });
  if (metadata) await context.services.artifacts.setMetadata(context.caller, artifactID, readMetadata(metadata));
  const found = await context.services.artifacts.look(context.caller, { id: artifactID });
  return { artifact: found && artifactFields(context, found) };
}

interface UseArtifactInput {
  readonly entityName: string;
  readonly projectName: string;
  readonly runName: string;
  readonly artifactID: string;
}

export async function useArtifact(
  context: RequestContext,
  { entityName, projectName, runName, artifactID }: UseArtifactInput,
) {
  const { caller, services } = context;
  const found = await services.artifacts.look(caller, { id: artifactID });
  if (!found) throw new AppError('artifact_not_found', `No artifact with the id ${artifactID}.`);
  const run = { entity: entityName || caller.entity, project: projectName, name: runName };
  await services.runs.noteArtifact(caller, run, artifactID, 'used');
  return { artifact: artifactFields(context, found) };
}

/** Deletes one version. Checkpoints are deleted by step, through the models API. */
export async function deleteArtifact({ caller, services }: RequestContext, { artifactID }: { artifactID: string }) {
  const found = await services.artifacts.look(caller, { id: artifactID });
  if (!found) throw new AppError('artifact_not_found', `No artifact with the id ${artifactID}.`);
  const { artifact } = found;
  if (!(await services.artifacts.find(caller, { ...artifact, version: `v${artifact.version}` })))
    throw new AppError('artifact_conflict', `${artifact.name} is a model: delete its checkpoints by step.`);
  await services.artifacts.delete(caller, { ...artifact, version: `v${artifact.version}` });
  return { artifact: { id: artifactID } };
}
