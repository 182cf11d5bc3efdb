// The artifact store: bytes come first and are nobody's yet, a manifest then makes a version of them, whole or not at all.
// What is in it is not read here. Checkpoints of models can be read by the same names (checkpoint-artifact.ts).
import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import type { ArtifactFile, ArtifactName, ArtifactVersion } from '#domain/artifact';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Listing, Page } from '#domain/page';
import type { ArtifactFilter } from '#storage/artifact-store';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { openArtifactFile, type OpenFile } from './artifact-content.ts';
import type { AccountLimits } from './account-limits.ts';
import { selectorOf, type NamedVersion } from './artifact-name.ts';
import { findCheckpointArtifact } from './checkpoint-artifact.ts';

export interface Manifest {
  readonly type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly aliases: readonly string[];
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
}

export type Committed =
  | { readonly outcome: 'created' | 'exists'; readonly artifact: ArtifactVersion }
  | { readonly outcome: 'missing'; readonly sha256: readonly string[] };

/** Its files, and how to read them. */
export interface OpenArtifact {
  readonly artifact: ArtifactVersion;
  /** Throws `artifact_not_found`. */
  open(path: string): Promise<OpenFile>;
}

/** All throw `artifact_not_found` for what is not there or another entity's. */
export interface Artifacts {
  /** Keeps bytes for a version to come, for a day. Throws `checksum_mismatch`, `body_too_large`. */
  upload(
    caller: Caller,
    name: ArtifactName,
    content: AsyncIterable<Uint8Array>,
    sha256: string | null,
  ): Promise<Omit<ArtifactFile, 'path'>>;
  /** Throws `artifact_conflict` where a model has the name. */
  commit(caller: Caller, name: ArtifactName, manifest: Manifest): Promise<Committed>;
  get(caller: Caller, named: NamedVersion): Promise<OpenArtifact>;
  /** Of stored versions; null where there is none. */
  find(caller: Caller, named: NamedVersion): Promise<ArtifactVersion | null>;
  list(caller: Caller, filter: Omit<ArtifactFilter, 'entity'>, page: Page): Promise<Listing<ArtifactVersion>>;
  setAliases(caller: Caller, named: NamedVersion, aliases: readonly string[]): Promise<ArtifactVersion>;
  /** Without a version: all of them. Gives how many. */
  delete(caller: Caller, named: NamedVersion): Promise<number>;
  /** Bytes that were uploaded and never became part of a version, or that no version has any more. */
  cleanUp(): Promise<void>;
}

export interface ArtifactsDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly fileBytesMax: number;
  readonly limits: Pick<AccountLimits, 'bytesLeft' | 'charge'>;
}

/** How long an upload may wait for its manifest. */
const UNUSED_MS_MAX = 24 * 60 * 60 * 1000;
/** Deleted versions' bytes stay for uploads that found them there a moment ago. */
const GRACE_MS = 60 * 60 * 1000;

export function createArtifacts({ storage, blobs, clock, log, fileBytesMax, limits }: ArtifactsDeps): Artifacts {
  const notFound = ({ entity, project, name, version = null }: ArtifactName & { version?: string | null }) =>
    new AppError(
      'artifact_not_found',
      `No artifact ${entity}/${project}/${name}${version === null ? '' : `:${version}`}. List yours with GET /v1/artifacts.`,
    );

  function refuseOthers(caller: Caller, name: ArtifactName): void {
    if (name.entity !== caller.entity) throw notFound(name);
  }

  async function own(caller: Caller, named: NamedVersion): Promise<ArtifactVersion> {
    refuseOthers(caller, named);
    const found = await storage.artifacts.find(named, selectorOf(named.version));
    if (!found) throw notFound(named);
    return found;
  }

  async function read(artifact: ArtifactVersion, path: string) {
    const opened = await openArtifactFile({ storage, blobs }, artifact, path);
    if (opened) return opened;
    const paths = artifact.files.map((each) => each.path).slice(0, 10);
    throw new AppError(
      'artifact_not_found',
      `${artifact.name}:v${artifact.version} has no file ${path}. It has ${paths.join(', ')}.`,
    );
  }

  async function removeUnused(...what: Parameters<Storage['artifacts']['removeUnused']>): Promise<void> {
    const unused = await storage.artifacts.removeUnused(...what);
    for (const blob of unused) await blobs.delete(blob);
    if (unused.length > 0) log.info('artifacts.cleaned', { blobs: unused.length });
  }

  return {
    async upload(caller, name, content, sha256) {
      refuseOthers(caller, name);
      const bytesLeft = await limits.bytesLeft(caller);
      const blob = `artifacts/${createId()}`;
      const hash = createHash('sha256');
      const { sizeBytes } = await blobs.put(blob, measured(content, hash, fileBytesMax, bytesLeft));
      const actual = hash.digest('hex');
      if (sha256 !== null && sha256 !== actual) {
        await blobs.delete(blob);
        throw new AppError(
          'checksum_mismatch',
          `The bytes that arrived have SHA-256 ${actual}, not ${sha256}. Nothing was stored: send them again.`,
        );
      }
      const known = await storage.artifacts.addContent(
        { entity: caller.entity, sha256: actual, sizeBytes, blob },
        clock.now(),
      );
      if (known.blob === blob) await limits.charge(caller, blob, sizeBytes);
      else await blobs.delete(blob); // the same bytes are there already
      return { sha256: actual, sizeBytes };
    },

    async commit(caller, name, { type, metadata, aliases, files }) {
      refuseOthers(caller, name);
      if (await storage.models.findByName(name.entity, name.project, name.name)) {
        throw new AppError(
          'artifact_conflict',
          `${name.entity}/${name.project}/${name.name} is a model: its versions are its checkpoints. Choose another name.`,
        );
      }
      const nowMs = clock.now();
      const contents = await Promise.all(
        files.map(async ({ path, sha256 }) => ({
          path,
          sha256,
          content: await storage.artifacts.touchContent(caller.entity, sha256, nowMs),
        })),
      );
      const missing = contents.filter(({ content }) => content === null);
      if (missing.length > 0) return { outcome: 'missing', sha256: unique(missing.map(({ sha256 }) => sha256)) };
      const sorted = contents
        .map(({ path, sha256, content }) => ({ path, sha256, sizeBytes: content!.sizeBytes }))
        .sort((a, b) => (a.path < b.path ? -1 : 1));
      const { entity, project } = name;
      const committed = await storage.artifacts.create(
        {
          id: createId(),
          entity,
          project,
          name: name.name,
          type,
          metadata,
          files: sorted,
          digest: createHash('sha256')
            .update(JSON.stringify([type, metadata, sorted]))
            .digest('hex'),
          createdAtMs: nowMs,
        },
        aliases,
      );
      if (committed.outcome === 'created') {
        const { id, version } = committed.artifact;
        log.info('artifact.created', { artifactId: id, project, name: name.name, version, files: files.length });
      }
      return committed;
    },

    async get(caller, named) {
      refuseOthers(caller, named);
      const artifact = await storage.artifacts.find(named, selectorOf(named.version));
      if (artifact) return { artifact, open: (path) => read(artifact, path) };
      const checkpoint = await findCheckpointArtifact({ storage, blobs }, named);
      if (checkpoint) return checkpoint;
      throw notFound(named);
    },

    async find(caller, named) {
      refuseOthers(caller, named);
      return storage.artifacts.find(named, selectorOf(named.version));
    },

    list: (caller, filter, page) => storage.artifacts.list({ ...filter, entity: caller.entity }, page),

    async setAliases(caller, named, aliases) {
      const { id } = await own(caller, named);
      if (!(await storage.artifacts.setAliases(id, aliases))) throw notFound(named);
      return own(caller, named);
    },

    async delete(caller, named) {
      const first = await own(caller, named);
      let deleted = 0;
      for (let next: ArtifactVersion | null = first; next;) {
        if (await storage.artifacts.delete(next.id)) deleted++;
        const sha256 = unique(next.files.map((file) => file.sha256));
        await removeUnused(clock.now() - GRACE_MS, { entity: caller.entity, sha256 });
        next = named.version === null ? await storage.artifacts.find(named, null) : null;
      }
      log.info('artifact.deleted', { project: named.project, name: named.name, versions: deleted });
      return deleted;
    },

    cleanUp: () => removeUnused(clock.now() - UNUSED_MS_MAX),
  };
}

async function* measured(
  content: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
  bytesMax: number,
  bytesLeft: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > bytesMax) {
      throw new AppError('body_too_large', `The file is over this server's limit of ${bytesMax} bytes. Split it.`);
    }
    if (size > bytesLeft) {
      const message = `The file is over the ${bytesLeft} bytes that may still be stored. Delete models, checkpoints or artifacts.`;
      throw new AppError('too_many_requests', message, { retryAfterSeconds: 60 });
    }
    hash.update(chunk);
    yield chunk;
  }
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)].sort();
