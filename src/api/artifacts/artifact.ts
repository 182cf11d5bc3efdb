// Artifacts: wire ↔ domain.
import { z } from 'zod';
import { longIntegersAsText } from '#validation/own-values';
import { sizeOf, type ArtifactVersion } from '#domain/artifact';
import { faultOfPath, isAlias, isArtifactSegment, versionText } from '#services/artifacts/artifact-name';
import type { Manifest } from '#services/artifacts/artifacts';
import { keyed } from '#validation/lax';
import { countNodes } from '#validation/parse';
import { unknownFields, warnings } from '#validation/unknown-fields';
import { COUNTED, envelope } from '../http/listing.ts';

const FILES_MAX = 10_000;
const ALIASES_MAX = 32;
const METADATA_CHARACTERS_MAX = 32_768;
/** A longer list is read only up to the first invalid file. */
const FILES_EXPLAINED = 1_000;

const complain = (ctx: z.RefinementCtx, msg: string): void =>
  ctx.addIssue({
    code: 'custom',
    message: msg,
    params: { complaint: { type: 'value_error', msg, ctx: { error: {} } } },
  });

/** Allowed names of a new artifact, its project and its type. */
export const artifactSegment = z.string().superRefine((text, ctx) => {
  if (!isArtifactSegment(text))
    complain(
      ctx,
      'Value error, must be 1 to 128 letters, digits, dots, dashes or underscores, starting with a letter or digit',
    );
});

export const alias = z.string().superRefine((text, ctx) => {
  if (!isAlias(text))
    complain(
      ctx,
      'Value error, must be 1 to 128 letters, digits, dots, dashes or underscores, and not vN, stepN, latest or draft',
    );
});

const aliases = z.array(alias).max(ALIASES_MAX);

export const filePath = z.string().superRefine((path, ctx) => {
  const fault = faultOfPath(path);
  if (fault !== null) complain(ctx, `Value error, the path ${fault}`);
});

const SHA256 = /^[0-9a-f]{64}$/;
const sha256 = z.string().regex(SHA256, 'must be 64 hex digits, lower case');

/** zod reads a whole list before it reports an error in the first item. */
function upToFault(files: unknown): unknown {
  if (!Array.isArray(files) || files.length <= FILES_EXPLAINED || files.length > FILES_MAX) return files;
  const isFaulty = (file: { path?: unknown; sha256?: unknown } | null | undefined) =>
    typeof file?.path !== 'string' ||
    faultOfPath(file.path) !== null ||
    typeof file.sha256 !== 'string' ||
    !SHA256.test(file.sha256);
  const at = files.findIndex(isFaulty);
  return at < 0 ? files : files.slice(0, Math.max(at + 1, FILES_EXPLAINED));
}

const tooMuchMetadata = (ctx: z.RefinementCtx): void =>
  complain(ctx, `Value error, must be at most ${METADATA_CHARACTERS_MAX} characters of JSON`);

const manifestFields = z.looseObject({
  type: artifactSegment.default('dataset').describe('`dataset`, `lora`, or a type of your own.'),
  metadata: keyed(z.string(), z.unknown())
    .default({})
    .superRefine((value, ctx) => {
      if (countNodes(value, METADATA_CHARACTERS_MAX) === METADATA_CHARACTERS_MAX) tooMuchMetadata(ctx);
    })
    .transform(longIntegersAsText)
    .superRefine((value, ctx) => {
      if (JSON.stringify(value).length > METADATA_CHARACTERS_MAX) tooMuchMetadata(ctx);
    }),
  aliases: aliases
    .default([])
    .describe('Aliases of this version, moved from other versions if they exist there. `latest` is set automatically.'),
  files: z.preprocess(
    upToFault,
    z
      .array(z.looseObject({ path: filePath, sha256 }))
      .min(1)
      .max(FILES_MAX)
      .superRefine((files, ctx) => {
        const paths = new Set<string>();
        for (const { path } of files) {
          if (paths.has(path)) complain(ctx, `Value error, the path ${path} is there twice`);
          paths.add(path);
        }
      }),
  ),
});

export const manifest = manifestFields.transform((wire): Manifest & { readonly warnings: readonly string[] } => ({
  type: wire.type,
  metadata: wire.metadata,
  aliases: [...new Set(wire.aliases)],
  files: wire.files.map(({ path, sha256 }) => ({ path, sha256 })),
  warnings: unknownFields(manifestFields, wire),
}));

export const newAliases = z.looseObject({
  aliases: aliases.describe('All aliases of the version but `latest`; they move here from other versions.'),
});

/** How a single file becomes a version: in query parameters, because the body is the file. */
export const fileQuery = z.looseObject({
  type: artifactSegment.default('dataset'),
  alias: alias.optional().describe('Alias to give to the new version.'),
  sha256: sha256.optional().describe('SHA-256 of the body. A body with a different hash is refused.'),
});

const artifactFile = z
  .object({ path: z.string(), size_bytes: z.int(), sha256: z.string() })
  .meta({ title: 'ArtifactFile' });

export const artifactResponse = z
  .object({
    id: z.guid(),
    entity: z.string(),
    project: z.string(),
    name: z.string(),
    version: z.string(),
    uri: z.string(),
    type: z.string(),
    aliases: z.array(z.string()),
    metadata: z.record(z.string(), z.unknown()),
    files: z.array(artifactFile),
    size_bytes: z.int(),
    created_at: z.string(),
  })
  .meta({ title: 'Artifact' });

export const changedArtifact = artifactResponse.extend({ warnings }).meta({ title: 'ChangedArtifact' });

export const artifactList = envelope(artifactResponse)
  .extend({
    counts: z
      .object({ versions: z.int().describe(`Number of versions. ${COUNTED}`) })
      .describe('Of all versions that the filters find: of every page.'),
  })
  .meta({ title: 'ArtifactList' });

export const uploadedFile = artifactFile;
/** 202: upload these files, then send the manifest again. */
export const missingFiles = z
  .object({
    missing: z.array(z.string()).describe('SHA-256 hashes of the missing files.'),
  })
  .meta({ title: 'MissingFiles' });
export const deletedArtifacts = z.object({ deleted_count: z.int() }).meta({ title: 'DeletedArtifacts' });

export const toArtifactResponse = (artifact: ArtifactVersion): z.input<typeof artifactResponse> => {
  const { id, entity, project, name, type, aliases, metadata, files } = artifact;
  const version = versionText(artifact);
  return {
    id,
    entity,
    project,
    name,
    version,
    uri: `wandb-artifact:///${entity}/${project}/${name}:${version}`,
    type,
    aliases: [...aliases],
    metadata: { ...metadata },
    files: files.map(({ path, sizeBytes, sha256 }) => ({ path, size_bytes: sizeBytes, sha256 })),
    size_bytes: sizeOf(artifact),
    created_at: new Date(artifact.createdAtMs).toISOString(),
  };
};
